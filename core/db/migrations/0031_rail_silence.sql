-- compatible_from: 0019
-- When a rail was last heard of, without reading all that it ever said.
create index rail_event_latest on rail_event (rail, received_at desc);
