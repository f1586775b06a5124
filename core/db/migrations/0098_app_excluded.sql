-- compatible_from: 0054
-- Apps that staff keep out of the rankings, and when staff asked for figures before their time.

alter table app
  add excluded_at timestamptz,
  add excluded_reason text check (char_length(excluded_reason) between 1 and 500),
  add constraint app_is_excluded_for_a_reason check ((excluded_at is null) = (excluded_reason is null));

-- Null: nobody asks for more than the job publishes by itself.
alter table figures add asked_at timestamptz;
