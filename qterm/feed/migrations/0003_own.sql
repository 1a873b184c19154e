-- The operator's own messages, which the editor walks through: found however far back they lie.
CREATE INDEX turns_own ON turns (task_id, id) WHERE persona = 'you' AND again_of IS NULL;
