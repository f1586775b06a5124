-- compatible_from: 0019
-- What customers and staff write to each other about a ticket, and whose turn it is while the ticket is open.
alter table ticket add column waiting_for text not null default 'staff'
  constraint ticket_waits_for_one_side check (waiting_for in ('staff', 'customer'));
create index ticket_open_walk on ticket (created_at, id) where status = 'open';

create table ticket_message (
  ticket_message_id bigint generated always as identity primary key,
  ticket_id text not null references ticket,
  org_id text not null references org,
  author text not null check (author in ('customer', 'reseller', 'staff')),
  -- A person, a key or a member of staff; null for staff who use svcctl.
  author_id text,
  author_name text not null,
  text text not null check (char_length(text) between 1 and 10000),
  created_at timestamptz not null
);
create index ticket_message_of_ticket on ticket_message (ticket_id, ticket_message_id);

revoke update, delete, truncate on ticket_message from svc_runtime;
