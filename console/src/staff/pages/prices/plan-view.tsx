// What a proposed price comes to: each amount before and after, and what the calls of thirty days would have cost.
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { type PricePlanPartsFragment, ProposedPriceDocument } from '../../../api/gen/staff/graphql.ts';
import { exactText } from '../../../ui/format/money.ts';
import { plural } from '../../../ui/format/numbers.ts';
import { dateText } from '../../../ui/format/time.ts';
import { ErrorBox } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { changeText, keyOf, nameOf } from './form.ts';

type Plan = PricePlanPartsFragment;

function Effect({ effect }: { effect: Plan['effect'] }) {
  const { complete, calls, costMicroUsd, beforeMicroUsd, afterMicroUsd, from } = effect;
  const [before, after] = [BigInt(beforeMicroUsd), BigInt(afterMicroUsd)];
  const more = after - before;
  const share = before === 0n ? '' : ` (${changeText(Number((more * 10_000n) / before))})`;
  return (
    <dl className="facts num">
      <div>
        <dt>{complete ? 'calls of the last 30 days' : 'calls that were counted'}</dt>
        <dd>
          {plural(calls, 'call')}
          {!complete && (
            <>
              , since <Time at={from} />
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>they cost</dt>
        <dd>{exactText(costMicroUsd)}</dd>
      </div>
      <div>
        <dt>at the prices of before</dt>
        <dd>{exactText(beforeMicroUsd)}</dd>
      </div>
      <div>
        <dt>at the proposed prices</dt>
        <dd>
          {exactText(afterMicroUsd)}
          {share}
        </dd>
      </div>
    </dl>
  );
}

export function PlanView({ plan }: { plan: Plan }) {
  const changed = plan.rates.filter(({ before, after }) => Number(before) !== Number(after));
  const charged = plan.markupBps > 0;
  return (
    <>
      <p className="soft">
        {plan.model} at {plan.provider}, {plan.region}: from {dateText(plan.from)}, 00:00 UTC
        {plan.until && `, until ${dateText(plan.until)}, when a price of the files follows`}.
        {charged && ` Callers pay ${plan.markupBps / 100} % more than the list price.`}
        <span className="sub mono"> {plan.endpointId}</span>
      </p>
      <Table name="Prices before and after, USD per million" stacks>
        <Columns
          of={[
            'Price',
            { name: 'Before', className: 'n' },
            { name: 'After', className: 'n' },
            { name: 'Change', className: 'n' },
          ]}
        />
        <tbody>
          {changed.map((rate) => (
            <tr key={keyOf(rate)}>
              <td className="price-name">{nameOf(rate)}</td>
              <td className="n" data-label="Before">
                {rate.before}
                {charged && <div className="sub">callers pay {rate.chargedBefore}</div>}
              </td>
              <td className="n" data-label="After">
                {rate.after}
                {charged && <div className="sub">callers pay {rate.chargedAfter}</div>}
              </td>
              <td className="n" data-label="Change">
                {changeText(rate.changeBps)}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
      <Effect effect={plan.effect} />
    </>
  );
}

/** What a proposal that waits comes to now, or why it cannot be confirmed any more. */
export function ProposedPrice({ approvalId }: { approvalId: string }) {
  const [{ data, error }, again] = useQuery({
    query: ProposedPriceDocument,
    variables: { approvalId },
    requestPolicy: 'network-only',
  });
  if (error)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  const plan = data?.proposedPrice;
  if (!plan) return <p className="soft">The calls of thirty days are counted…</p>;
  return <PlanView plan={plan} />;
}
