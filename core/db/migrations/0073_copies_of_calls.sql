-- compatible_from: 0054
-- The copies of a call that shadows of policies got: their rows are tagged with the id of the call. Only these rows are in it.
create index request_row_copy on request_row (org_id, (tags->>'shadow_of'), ts) where tags ? 'shadow_of';
