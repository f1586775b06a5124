-- compatible_from: 0054
-- What resellers are called on the documents of their customers, and whose each series of numbers is.

create table reseller_invoicing (
  -- The reseller.
  org_id text primary key references org,
  legal_name text not null check (char_length(legal_name) between 1 and 200),
  address jsonb not null constraint reseller_invoicing_address_has_lines check (
    jsonb_typeof(address) = 'array' and jsonb_array_length(address) between 1 and 6),
  -- Two digits of GST.
  state_code text not null check (state_code ~ '^\d\d$'),
  -- Null: not registered; its documents are receipts without tax.
  gstin text,
  pan text,
  lut text,
  sac text not null check (sac ~ '^\d{6}$'),
  email text,
  website text,
  series text not null check (series ~ '^[A-Z][A-Z0-9]{0,2}$'),
  -- Whether its customers are sold to in its name.
  enabled boolean not null,
  updated_at timestamptz not null,
  constraint reseller_invoicing_gstin_is_of_state_and_pan check (
    gstin is null or left(gstin, 2) = state_code and substr(gstin, 3, 10) = pan),
  constraint reseller_invoicing_lut_needs_gstin check (lut is null or gstin is not null)
);
select fence_org('reseller_invoicing');
revoke delete, truncate on reseller_invoicing from svc_runtime;

-- Whose a series is, that of its credit notes (`C` before it) by itself: one supplier's in the whole installation, so that
-- a number names one document. A series that was never used may be given up.
create table invoice_series (
  series text primary key check (series ~ '^[A-Z][A-Z0-9]{0,3}$'),
  -- `platform`, or the reseller.
  supplier text not null
);
revoke update, truncate on invoice_series from svc_runtime;

insert into invoice_series (series, supplier)
select series, min(supplier) from (
  values ('INV', 'platform'), ('CINV', 'platform')
  union select value ->> 'series', 'platform' from settings where name = 'supplier' and value ? 'series'
  union select 'C' || (value ->> 'series'), 'platform' from settings where name = 'supplier' and value ? 'series'
  union select series, supplier from invoice_counter
) as known (series, supplier) group by series;
