-- compatible_from: 0054
-- Which session of the database a gateway listens by. The session holds a lock of this name, and the server ends it with the
-- process: a killed gateway is out of the count at once, and not when its last note is old. Null (also of an older program):
-- only the note counts.
alter table policy_gateway add column session_id text;
