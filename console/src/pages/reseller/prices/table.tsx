// What models cost a customer at a markup and what of it is earned, for input and output tokens and whatever else has a price.
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { ResalePricesDocument, type ResalePricesQuery } from '../../../api/gen/tools/graphql.ts';
import { perMillionText } from '../../../ui/format/money.ts';
import { countText } from '../../../ui/format/numbers.ts';
import { BoneRows, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';

type Prices = NonNullable<NonNullable<ResalePricesQuery['reseller']>['tierPrices']>;
type Price = Prices['data'][number];

const COLUMNS = [
  'Model',
  { name: 'Catalog', className: 'n' },
  { name: 'Customer pays', className: 'n' },
  { name: 'You earn', className: 'n' },
];

function Line({ price, rate }: { price: Price; rate: Price['rates'][number] }) {
  return (
    <tr>
      <td className="resale-wrap">
        {price.model}{' '}
        <span className="faint">
          {rate.kind.replaceAll('_', ' ')}, {price.providers.join(', ')}
          {price.hasBands && '; long prompts cost more'}
        </span>
      </td>
      <td className="n" data-label="Catalog">
        {perMillionText(rate.catalogNano)}
      </td>
      <td className="n" data-label="Customer pays">
        {perMillionText(rate.customerNano)}
      </td>
      <td className="n" data-label="You earn">
        {perMillionText(rate.earnedNano)}
      </td>
    </tr>
  );
}

/** `whole`: every kind of price, else input and output alone. */
export function PricesTable({ bps, q, whole = false }: { bps: number; q: string; whole?: boolean }) {
  const [{ data, error, stale, fetching }, again] = useQuery({
    query: ResalePricesDocument,
    variables: { markupBps: bps, ...(q === '' ? {} : { q }) },
  });
  const prices = data?.reseller?.tierPrices;
  if (error && !prices)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (prices?.data.length === 0)
    return <Empty title="No model like this">A part of its id finds a model.</Empty>;
  const lines = prices?.data.flatMap((price) =>
    price.rates
      .filter(({ kind }) => whole || kind === 'input' || kind === 'output')
      .map((rate) => ({ price, rate })),
  );
  const listed = new Set(prices?.data.map(({ model }) => model)).size;
  return (
    <>
      <Table name="Prices at this markup" stacks busy={fetching || stale}>
        <Columns of={COLUMNS} />
        <tbody>
          {lines === undefined ? (
            <BoneRows rows={4} columns={4} />
          ) : (
            lines.map(({ price, rate }) => (
              <Line
                key={`${price.model} ${price.providers.join(' ')} ${rate.kind}`}
                price={price}
                rate={rate}
              />
            ))
          )}
        </tbody>
      </Table>
      {prices && prices.models > listed && (
        <p className="sub resale-pad">
          The first {countText(listed)} of {countText(prices.models)} models. A part of an id finds others.
        </p>
      )}
    </>
  );
}
