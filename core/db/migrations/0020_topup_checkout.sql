-- compatible_from: 0019
-- Where a top-up that is pending is paid, so that a person who left the rail's page finds it again. Programs of before
-- leave it empty.
alter table topup add column checkout_url text;
