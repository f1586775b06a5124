// Proposes other prices of an endpoint: amounts are typed, what they come to is read, and then they wait for a second person.
import { type FormEvent, useEffect, useState } from 'react';
import { useClient } from 'urql';
import { faultOfQuery, offlineFault } from '../../../api/errors.ts';
import {
  type PricePlanPartsFragment as Plan,
  PricePreviewDocument,
  ProposePriceDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useAction, useMutate } from '../../../api/send.ts';
import type { Result } from '../../../api/session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';
import { changesOf, dayAfter, formOf, keyOf, nameOf, type PriceFaults, type PriceForm } from './form.ts';
import { PlanView } from './plan-view.tsx';

/** The first day that is offered: late enough for any price. */
const FIRST_DAYS = 7;
type Change = ReturnType<typeof changesOf>['changes'][number];

interface Endpoint {
  readonly endpointId: string;
  readonly model: string;
  readonly provider: string;
}

function usePreview(endpointId: string) {
  const client = useClient();
  return async (from: string, changes: readonly Change[]): Promise<Result<Plan>> => {
    const asked = { endpointId, from, changes: [...changes] };
    const { data, error } = await client
      .query(PricePreviewDocument, asked, { requestPolicy: 'network-only' })
      .toPromise();
    if (data?.pricePreview) return { ok: true, value: data.pricePreview };
    return { ok: false, fault: error ? faultOfQuery(error) : offlineFault };
  };
}

function Fields(props: {
  plan: Plan;
  form: PriceForm;
  faults: PriceFaults;
  onChange: (form: PriceForm) => void;
}) {
  const { plan, form, faults, onChange } = props;
  return (
    <>
      <TextField
        label="From"
        type="date"
        hint="00:00 UTC of this day. A lower price from tomorrow on, a higher one a week ahead."
        value={form.from}
        fault={faults['from'] ?? null}
        onChange={({ target }) => onChange({ ...form, from: target.value })}
      />
      <div className="price-fields">
        {plan.rates.map((rate, place) => (
          <TextField
            key={keyOf(rate)}
            label={nameOf(rate)}
            inputMode="decimal"
            autoComplete="off"
            value={form.amounts[keyOf(rate)] ?? ''}
            fault={faults[keyOf(rate)] ?? null}
            onChange={({ target }) =>
              onChange({ ...form, amounts: { ...form.amounts, [keyOf(rate)]: target.value } })
            }
            {...(place === 0 ? { 'data-autofocus': true } : {})}
          />
        ))}
      </div>
      {faults['amounts'] && (
        <p className="fault" role="alert">
          {faults['amounts']}
        </p>
      )}
      <TextField
        label="Reason"
        maxLength={500}
        autoComplete="off"
        hint="Stands in the audit log, and who confirms reads it."
        value={form.reason}
        fault={faults['reason'] ?? null}
        onChange={({ target }) => onChange({ ...form, reason: target.value })}
      />
    </>
  );
}

/** What was typed, what it comes to, and the act. */
function useProposal(endpoint: Endpoint, onDone: (said: string) => void) {
  const preview = usePreview(endpoint.endpointId);
  const mutate = useMutate();
  const { act, busy, fault, setFault } = useAction();
  const [opened, setOpened] = useState<{ plan: Plan; form: PriceForm } | null>(null);
  const [faults, setFaults] = useState<PriceFaults>({});
  const [read, setRead] = useState<{ plan: Plan; changes: readonly Change[] } | null>(null);
  const open = async () => {
    const plan = await act(() => preview(dayAfter(new Date(), FIRST_DAYS), []));
    if (plan !== null) setOpened({ plan, form: formOf(plan) });
  };
  const look = async () => {
    if (opened === null) return;
    const { changes, faults: wrong } = changesOf(opened.plan, opened.form);
    setFaults(wrong);
    setFault(null);
    if (Object.keys(wrong).length > 0) return;
    const plan = await act(() => preview(opened.form.from, changes));
    if (plan !== null) setRead({ plan, changes });
  };
  const send = async () => {
    if (opened === null || read === null) return;
    const { replaces, from } = read.plan;
    const input = { endpointId: endpoint.endpointId, from, replaces, changes: [...read.changes] };
    const done = await act(() =>
      mutate(ProposePriceDocument, { ...input, reason: opened.form.reason.trim() }),
    );
    if (done === null) setRead(null);
    else onDone(`The price of ${endpoint.model} waits under Approvals for a second person.`);
  };
  const onChange = (form: PriceForm) => {
    if (opened !== null) setOpened({ ...opened, form });
    setFaults({});
    setFault(null);
  };
  const at_from = fault?.field?.split('.').at(-1) === 'from';
  return {
    ...{ opened, read, busy, open, look, send, onChange, back: () => setRead(null) },
    faults: at_from && fault ? { ...faults, from: fault.message } : faults,
    fault: at_from ? null : fault,
  };
}

export function ProposeDialog(props: {
  endpoint: Endpoint;
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { endpoint, onClose, onDone } = props;
  const { opened, read, busy, fault, faults, ...acts } = useProposal(endpoint, onDone);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the dialog opens
  useEffect(() => void acts.open(), []);
  if (read !== null)
    return (
      <Dialog title={`Price of ${endpoint.model}: read it once more`} size={640} onClose={acts.back}>
        <div className="dialog-form">
          <PlanView plan={read.plan} />
          <div className="dialog-foot">
            <Button onClick={acts.back}>Back</Button>
            <Button kind="primary" busy={busy} onClick={() => void acts.send()} data-autofocus>
              Propose it
            </Button>
          </div>
        </div>
      </Dialog>
    );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void acts.look();
  };
  return (
    <Dialog
      title={`Price of ${endpoint.model} at ${endpoint.provider}`}
      note={`US dollars per million units, before the markup of the model. Somebody else confirms it. ${endpoint.endpointId}`}
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={submit} noValidate>
        {opened === null && fault === null && <p className="soft">The prices are read…</p>}
        {opened !== null && (
          <Fields plan={opened.plan} form={opened.form} faults={faults} onChange={acts.onChange} />
        )}
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          See what it comes to
        </DialogFoot>
      </form>
    </Dialog>
  );
}
