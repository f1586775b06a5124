-- compatible_from: 0019
-- The rate of GST by the day, in Kolkata, from which it is in force. Before the first row it is the rate of the release.
create table gst_rate (
  from_day date primary key,
  rate_bps int not null check (rate_bps between 0 and 10000),
  set_at timestamptz not null
);
revoke delete, truncate on gst_rate from svc_runtime;
