-- compatible_from: 0054
-- Samples 10 to 18 of a unit are second calls for samples 1 to 9 whose judge gave no grade. An older program makes none.
alter table eval_call drop constraint eval_call_sample_check;
alter table eval_call add constraint eval_call_sample_check check (sample between 0 and 18);
