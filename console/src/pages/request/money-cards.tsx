// What the call cost and why: each price line is recomputed in the browser, and the hold is compared with the charge.
import type { RequestDetailQuery } from '../../api/gen/graphql.ts';
import { Card } from '../../ui/card.tsx';
import { exactText, perMillionText } from '../../ui/format/money.ts';
import { countText } from '../../ui/format/numbers.ts';
import { Icon } from '../../ui/icons.tsx';
import { Money } from '../../ui/money.tsx';
import { Empty } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { recompute } from './explain.ts';
import type { Call } from './page.tsx';

type Cost = NonNullable<RequestDetailQuery['generation']>['cost'];

function Verdict({ cost, charged }: { cost: Cost; charged: string }) {
  const own = recompute(
    cost.lines.map(({ kind, units, unitPriceNano, microUsd }) => ({
      kind,
      units,
      nano: unitPriceNano,
      micro: microUsd,
    })),
  );
  const same = own === BigInt(cost.totalMicroUsd) && own === BigInt(charged);
  if (same) {
    return (
      <div className="verdict ok">
        <Icon name="check" size={15} />
        <span>Recomputed in this browser from the units above. Equal to what the ledger charged.</span>
      </div>
    );
  }
  return (
    <div className="verdict bad" role="alert">
      <Icon name="alert-triangle" size={15} />
      <span>
        Recomputed here: {exactText(own)}. Charged: {exactText(charged)}. These should be equal; please report
        the request id above.
      </span>
    </div>
  );
}

function PriceLine({ line }: { line: Cost['lines'][number] }) {
  return (
    <tr>
      <td className="mono">{line.kind}</td>
      <td className="n">{countText(line.units)}</td>
      <td className="n">{perMillionText(line.unitPriceNano)}</td>
      <td className="n faint wide-only">
        {line.units} × {line.unitPriceNano} ÷ 1000
      </td>
      <td className="n">
        <Money micro={line.microUsd} />
      </td>
    </tr>
  );
}

export function PriceCard({ call, cost }: { call: Call; cost: Cost | null }) {
  if (cost === null || cost.lines.length === 0) {
    const why =
      call.costMicro === '0'
        ? 'This call was not charged, so there are no lines to show.'
        : 'The ledger has no lines for this call that your role may read.';
    return (
      <Card title="Price" flush>
        <Empty title={call.costMicro === '0' ? 'Nothing was charged' : 'No price lines'}>{why}</Empty>
      </Card>
    );
  }
  return (
    <Card title="Price" note={<span className="mono">{cost.priceVersion}</span>} flush>
      <Table name="Price lines">
        <Columns
          of={[
            'Line',
            { name: 'Units', className: 'n' },
            { name: 'Per million', className: 'n' },
            { name: 'Units × nano ÷ 1000', className: 'n wide-only' },
            { name: 'Cost', className: 'n' },
          ]}
        />
        <tbody>
          {cost.lines.map((line) => (
            <PriceLine key={line.kind} line={line} />
          ))}
          <tr className="total">
            <td>Total</td>
            <td />
            <td />
            <td className="wide-only" />
            <td className="n">
              <Money micro={cost.totalMicroUsd} />
            </td>
          </tr>
        </tbody>
      </Table>
      <Verdict cost={cost} charged={call.costMicro} />
    </Card>
  );
}

const sources: Readonly<Record<string, string>> = {
  provider: 'Usage as reported by the provider.',
  estimate: 'The provider reported no usage; it was counted here, and never above what was held.',
};

export function SettlementCard({ call }: { call: Call }) {
  const held = call.route ? BigInt(call.route.reserveMicro) : null;
  const charged = BigInt(call.costMicro);
  const rows: { name: string; micro: bigint; color: string; from: bigint }[] = [];
  if (held !== null) {
    const back = held > charged ? held - charged : 0n;
    rows.push({ name: 'Held before the call', micro: held, color: 'var(--c0)', from: 0n });
    rows.push({ name: 'Charged', micro: charged, color: 'var(--c1)', from: 0n });
    rows.push({ name: 'Given back', micro: back, color: 'var(--c2)', from: charged });
  } else {
    rows.push({ name: 'Charged', micro: charged, color: 'var(--c1)', from: 0n });
  }
  const whole = rows.reduce((max, { micro, from }) => (micro + from > max ? micro + from : max), 1n);
  const share = (part: bigint) => `${Number((part * 10_000n) / whole) / 100}%`;
  return (
    <Card title="Hold and settlement">
      <dl className="settlement num">
        {rows.map(({ name, micro, color, from }) => (
          <div key={name} className="settlement-line">
            <dt>{name}</dt>
            <dd>
              <Money micro={micro} />
            </dd>
            <dd className="meter" aria-hidden="true">
              <span style={{ marginLeft: share(from), width: share(micro), background: color }} />
            </dd>
          </div>
        ))}
      </dl>
      <p className="sub settlement-note">
        {sources[call.usageSource] ?? 'Nothing was metered.'}{' '}
        {held === null && 'No hold was recorded for this call.'}
      </p>
    </Card>
  );
}
