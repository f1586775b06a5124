// What a customer used in the last 30 days, by day and by model.
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  ResaleCustomerUsageDocument,
  type ResaleCustomerUsageQuery,
} from '../../../api/gen/tools/graphql.ts';
import { Card } from '../../../ui/card.tsx';
import { SpendChart } from '../../../ui/chart.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { Money } from '../../../ui/money.tsx';
import { Bone, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { seriesOf } from '../../usage/figures.ts';

type Usage = NonNullable<NonNullable<ResaleCustomerUsageQuery['reseller']>['usage']>;

/** The last group of long lists is all others together. */
const names: Readonly<Record<string, string>> = { __other: 'Other', '': 'No model' };
const nameOf = (key: string) => names[key] ?? key;

const COLUMNS = [
  'Model',
  { name: 'Calls', className: 'n' },
  { name: 'Failed', className: 'n' },
  { name: 'Input tokens', className: 'n' },
  { name: 'Output tokens', className: 'n' },
  { name: 'Cost, USD', className: 'n' },
];

function Models({ usage }: { usage: Usage }) {
  const count = (name: string, value: number) => (
    <td className="n" data-label={name}>
      {countText(value)}
    </td>
  );
  return (
    <Table name="Sums by model" stacks>
      <Columns of={COLUMNS} />
      <tbody>
        {usage.groups.map((row) => (
          <tr key={row.key}>
            <td>{nameOf(row.key)}</td>
            {count('Calls', row.requests)}
            {count('Failed', row.errors)}
            {count('Input tokens', row.inputTokens)}
            {count('Output tokens', row.outputTokens)}
            <td className="n" data-label="Cost, USD">
              <Money micro={row.costMicro} />
            </td>
          </tr>
        ))}
        <tr className="total">
          <td>All models</td>
          {count('Calls', usage.totals.requests)}
          {count('Failed', usage.totals.errors)}
          <td />
          <td />
          <td className="n" data-label="Cost, USD">
            <Money micro={usage.totals.costMicro} />
          </td>
        </tr>
      </tbody>
    </Table>
  );
}

export function UsageCard({ id }: { id: string }) {
  const [{ data, error }, again] = useQuery({
    ...{ query: ResaleCustomerUsageDocument, variables: { id, range: 'D30' as const } },
    requestPolicy: 'cache-and-network',
  });
  const usage = data?.reseller?.usage;
  if (error && !usage)
    return (
      <Card title="Use">
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      </Card>
    );
  const used = usage && usage.groups.length > 0;
  return (
    <>
      <Card title="Use by day and model" note="The last 30 days, in UTC; what its calls cost it.">
        {!usage && <Bone width={260} />}
        {usage && !used && <Empty title="No call yet">It has made none in 30 days.</Empty>}
        {used && (
          <SpendChart
            label="Use by model"
            days={usage.series.map(({ bucket }) => bucket.slice(0, 10))}
            series={seriesOf(usage, nameOf)}
          />
        )}
      </Card>
      {used && (
        <Card title="Use by model" flush>
          <Models usage={usage} />
        </Card>
      )}
    </>
  );
}
