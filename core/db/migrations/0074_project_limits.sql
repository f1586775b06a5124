-- compatible_from: 0054
-- Limits of a project bound all its keys together. An older program does not know them: it lets calls through that its newer
-- neighbour refuses.
alter table project
  add column rpm int check (rpm > 0),
  add column tpm int check (tpm > 0),
  add column concurrency int check (concurrency > 0);

-- Keys in the memory of processes carry the limits of their project. A new name or budget is no reason to read them again.
drop trigger project_announces on project;
create trigger project_announces after update of status, rpm, tpm, concurrency on project
  for each row
  when ((old.status, old.rpm, old.tpm, old.concurrency) is distinct from (new.status, new.rpm, new.tpm, new.concurrency))
  execute function announce_grant_change();
