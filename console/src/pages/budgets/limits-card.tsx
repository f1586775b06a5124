// What each key may do in a minute, what is left of it now, and the way to more.
import type { BudgetsQuery } from '../../api/gen/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { countText, plural } from '../../ui/format/numbers.ts';
import { BoneRows, Empty } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { holds } from './limits.ts';

export type Limits = NonNullable<BudgetsQuery['limits']>;
export type LimitedKey = Limits['keys'][number];

function Cell(props: { label: string; holds: number | null; left: string }) {
  return (
    <td className="n" data-label={props.label}>
      {props.holds === null ? <span className="faint">no limit</span> : countText(props.holds)}
      <div className="sub">{props.left}</div>
    </td>
  );
}

function leftText(left: number | null | undefined): string {
  return left === null || left === undefined ? '' : `${countText(left)} left`;
}

function Row({ row, plan, onAsk }: { row: LimitedKey; plan: Limits['plan']; onAsk: (() => void) | null }) {
  const { configured, live } = row;
  return (
    <tr>
      <td className="budget-name">{row.name}</td>
      <Cell
        label="Calls a minute"
        holds={holds(configured.rpm, plan.rpm)}
        left={leftText(live.rpmRemaining)}
      />
      <Cell
        label="Tokens a minute"
        holds={holds(configured.tpm, plan.tpm)}
        left={leftText(live.tpmRemaining)}
      />
      <Cell
        label="At once"
        holds={holds(configured.concurrency, plan.concurrency)}
        left={live.concurrencyInUse === 0 ? '' : `${countText(live.concurrencyInUse)} running`}
      />
      <td className="n">
        {onAsk && (
          <Button onClick={onAsk} aria-label={`Ask for higher limits of ${row.name}`}>
            Ask for more…
          </Button>
        )}
      </td>
    </tr>
  );
}

function refusedText({ rejected24h, upstreamCapacity24h }: Limits): string {
  const refused = rejected24h.rpm + rejected24h.tpm + rejected24h.concurrency;
  const by_limits =
    refused === 0 ? 'No call was refused by a limit' : `${plural(refused, 'call')} refused by limits`;
  const full =
    upstreamCapacity24h === 0 ? '' : `, ${plural(upstreamCapacity24h, 'call')} by providers without capacity`;
  return `${by_limits}${full} in 24 hours.`;
}

function planText({ rpm, tpm, concurrency }: Limits['plan']): string {
  const of = (limit: number | null | undefined, unit: string) =>
    limit === null || limit === undefined ? [] : [`${countText(limit)} ${unit}`];
  const parts = [
    ...of(rpm, 'calls a minute'),
    ...of(tpm, 'tokens a minute'),
    ...of(concurrency, 'calls at once'),
  ];
  return parts.length === 0
    ? 'Your organization has no limits; keys have those that they were given.'
    : `All keys together: ${parts.join(', ')}.`;
}

interface Props {
  /** Undefined: they are being read; null: they cannot be. */
  readonly limits: Limits | null | undefined;
  readonly allowed: boolean;
  readonly onAsk: (row: LimitedKey) => void;
}

function Rows({ limits, allowed, onAsk }: Props) {
  if (!limits) return <BoneRows rows={2} columns={5} />;
  return limits.keys.map((row) => (
    <Row
      key={row.keyId}
      row={row}
      plan={limits.plan}
      onAsk={allowed && row.status === 'active' ? () => onAsk(row) : null}
    />
  ));
}

function LimitsTable(props: Props) {
  if (props.limits === null) return <Empty title="Limits cannot be read">Try again in a moment.</Empty>;
  if (props.limits?.keys.length === 0) {
    return <Empty title="No key yet">Limits of a key appear when there is one.</Empty>;
  }
  return (
    <Table name="Limits of keys" stacks busy={props.limits === undefined}>
      <Columns
        of={[
          'Key',
          { name: 'Calls a minute', className: 'n' },
          { name: 'Tokens a minute', className: 'n' },
          { name: 'At once', className: 'n' },
          { name: 'Actions', hidden: true },
        ]}
      />
      <tbody>
        <Rows {...props} />
      </tbody>
    </Table>
  );
}

export function LimitsCard(props: Props) {
  const { limits } = props;
  return (
    <Card title="Limits" note={limits?.live ? refusedText(limits) : undefined} flush>
      {limits && (
        <div className="limits-plan">
          <p>{planText(limits.plan)}</p>
          {!limits.live && (
            <p className="sub">What is left now is not known here: the counters are not shared.</p>
          )}
        </div>
      )}
      <LimitsTable {...props} />
    </Card>
  );
}
