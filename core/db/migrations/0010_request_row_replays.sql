-- How often the answer of a call was given again (4.8 row 25). Counted after the row is written, so it is no member of
-- `request_row_v1`: writers of the version before insert their columns by name and leave this one at 0.

alter table request_row add column replays int not null default 0
  constraint replays_not_negative check (replays >= 0);
