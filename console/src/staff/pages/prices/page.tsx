// What endpoints cost from when on, other prices that staff propose, and exchange rates of the last days.
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  StaffPricesDocument,
  type StaffPricesQuery,
  StaffRatesDocument,
  type StaffRatesQuery,
} from '../../../api/gen/staff/graphql.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { dateText } from '../../../ui/format/time.ts';
import { BoneRows, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { readFindSearch } from '../../search.ts';
import { FindForm } from '../find-form.tsx';
import { ProposeDialog } from './propose-dialog.tsx';
import { RatesDialog } from './rates-dialog.tsx';
import { SetPricesCard } from './set-prices-card.tsx';
import { feeText, historyOf, rateText, sourceText } from './words.ts';

type Rates = NonNullable<StaffRatesQuery['fxRates']>;
type Price = NonNullable<StaffPricesQuery['priceVersions']>['nodes'][number];

const PAGE = 30;

/** Sandbox endpoints have no price of their own to propose. */
const isPresent = ({ use, effectiveUntil, provider }: Price) =>
  use === 'standard' && effectiveUntil === null && provider !== 'sandbox';

function PriceLine({ price, onPropose }: { price: Price; onPropose: (() => void) | null }) {
  return (
    <tr>
      <td className="mail-answer">
        {price.model}
        <div className="sub mono">{price.endpointId}</div>
        {onPropose && (
          <Button
            onClick={onPropose}
            aria-label={`Propose a price of ${price.model} at ${price.provider}, ${price.endpointId}`}
          >
            Propose a price…
          </Button>
        )}
      </td>
      <td data-label="Provider">
        {price.provider}
        <div className="sub">
          {price.region}, {price.use}
        </div>
      </td>
      <td data-label="USD per million">
        <ul className="prices">
          {price.rates.map(({ kind, usdPerMillion }) => (
            <li key={kind}>
              {kind.replaceAll('_', ' ')} <span className="num">{usdPerMillion}</span>
            </li>
          ))}
        </ul>
        {feeText(price) !== '' && <div className="sub">{feeText(price)}</div>}
      </td>
      <td className="soft" data-label="From">
        <Time at={price.effectiveFrom} />
      </td>
      <td className="soft" data-label="Until">
        <Time at={price.effectiveUntil} never="it holds" />
      </td>
    </tr>
  );
}

function PricesCard({ model, onSaid }: { model: string | undefined; onSaid: (said: string) => void }) {
  const may = useMay('catalog', 'finance');
  const [proposing, setProposing] = useState<Price | null>(null);
  const client = useClient();
  const variables = { first: PAGE, ...(model === undefined ? {} : { model }) };
  const [{ data, error }, again] = useQuery({ query: StaffPricesDocument, variables });
  const { rows, ...older } = useOlder(data?.priceVersions, async (after) => {
    const { data: page, error } = await client
      .query(StaffPricesDocument, { ...variables, after })
      .toPromise();
    return { page: page?.priceVersions, error };
  });
  if (error && !data?.priceVersions)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  return (
    <Card title="Prices" note="Newest first. They come from the files of the catalog, and from staff." flush>
      {rows?.length === 0 ? (
        <Empty title={model === undefined ? 'No price yet' : `No price of a model with ${model}`}>
          Prices stand here once a gateway has loaded its catalog.
        </Empty>
      ) : (
        <Table name="Prices of endpoints" stacks busy={rows === undefined}>
          <Columns of={['Model', 'Provider', 'USD per million', 'From', 'Until']} />
          <tbody>
            {rows === undefined ? (
              <BoneRows rows={5} columns={5} />
            ) : (
              rows.map((price) => (
                <PriceLine
                  key={`${price.id} ${price.effectiveFrom}`}
                  price={price}
                  onPropose={may && isPresent(price) ? () => setProposing(price) : null}
                />
              ))
            )}
          </tbody>
        </Table>
      )}
      <OlderFoot shown={rows?.length ?? 0} what="prices" {...older} />
      {proposing && (
        <ProposeDialog
          endpoint={proposing}
          onClose={() => setProposing(null)}
          onDone={(said) => {
            setProposing(null);
            onSaid(said);
          }}
        />
      )}
    </Card>
  );
}

/** The rates of one day, which is chosen. */
function DayRates({ days }: { days: Rates['days'] }) {
  const [chosen, setChosen] = useState(days[0]?.day ?? '');
  const day = days.find((one) => one.day === chosen) ?? days[0];
  if (day === undefined)
    return (
      <Empty title="No rates yet">
        They are fetched at 00:15 and 15:30 UTC; until then dollars are sold.
      </Empty>
    );
  return (
    <>
      {days.length > 1 && (
        <div className="prices-day">
          <select
            aria-label="Day"
            className="input"
            value={day.day}
            onChange={(event) => setChosen(event.target.value)}
          >
            {days.map((one) => (
              <option key={one.day} value={one.day}>
                {`${dateText(one.day)}${one.state === 'WAITING' ? ', waits for a person' : ''}`}
              </option>
            ))}
          </select>
        </div>
      )}
      {day.state === 'WAITING' && (
        <p className="prices-day sub">
          A rate jumped, so nothing is sold by this day until somebody takes it in the{' '}
          <To className="link" href="/queue">
            queue
          </To>
          .
        </p>
      )}
      {day.isSet && <p className="prices-day sub">Two members of staff set it.</p>}
      {day.decidedAt && !day.isSet && (
        <p className="prices-day sub">
          A rate jumped; staff took the day <Time at={day.decidedAt} />.
        </p>
      )}
      <Table name="Rates of the day">
        <Columns of={['Currency', { name: 'For one US dollar', className: 'n' }]} />
        <tbody>
          {day.rates.map(({ currency, rate }) => (
            <tr key={currency}>
              <td>{currency}</td>
              <td className="n">{rateText(rate)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </>
  );
}

/** One currency over all days that are kept, newest first, with how far it moved. */
function HistoryCard({ days }: { days: Rates['days'] }) {
  const currencies = days[0]?.rates.map(({ currency }) => currency) ?? [];
  const [chosen, setChosen] = useState('INR');
  const currency = currencies.includes(chosen) ? chosen : (currencies[0] ?? '');
  const rows = historyOf(days, currency);
  if (rows.length < 2) return null;
  return (
    <Card title="One currency, day by day" flush>
      <div className="prices-day">
        <select
          aria-label="Currency"
          className="input"
          value={currency}
          onChange={(event) => setChosen(event.target.value)}
        >
          {currencies.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <Table name="Rates of one currency">
        <Columns
          of={['Day', { name: 'For one US dollar', className: 'n' }, { name: 'Change', className: 'n' }]}
        />
        <tbody>
          {rows.map(({ day, rate, change, waits }) => (
            <tr key={day}>
              <td>
                {dateText(day)} {waits && <Status tone="warn">waits</Status>}
              </td>
              <td className="n">{rateText(rate)}</td>
              <td className="n">{change}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}

function RatesCard({ onSaid }: { onSaid: (said: string) => void }) {
  const may = useMay('finance');
  const [proposing, setProposing] = useState(false);
  const [{ data, error }, again] = useQuery({ query: StaffRatesDocument });
  const rates = data?.fxRates;
  if (error && !rates)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  return (
    <>
      <Card
        title="Exchange rates"
        note={rates ? sourceText(rates) : undefined}
        more={
          rates && (
            <Status tone={rates.stale || rates.error !== null ? 'warn' : 'ok'}>
              {rates.stale ? 'old' : 'in force'}
            </Status>
          )
        }
        flush
      >
        {may && rates && (
          <p className="prices-day">
            <Button onClick={() => setProposing(true)}>Propose a rate…</Button>
          </p>
        )}
        {rates?.error != null && <p className="prices-day sub">The last try failed: {rates.error}</p>}
        {rates ? (
          <DayRates days={rates.days} />
        ) : (
          <Table name="Rates of the day" busy>
            <tbody>
              <BoneRows rows={5} columns={2} />
            </tbody>
          </Table>
        )}
      </Card>
      {rates && <HistoryCard days={rates.days} />}
      {rates && proposing && (
        <RatesDialog
          days={rates.days}
          onClose={() => setProposing(false)}
          onDone={(said) => {
            setProposing(false);
            onSaid(said);
          }}
        />
      )}
    </>
  );
}

export function PricesPage() {
  const { q } = readFindSearch(useSearch({ strict: false }));
  const [said, setSaid] = useState('');
  return (
    <>
      <PageHead title="Prices">
        <p role="status">{said || 'What endpoints cost from when on, and what a dollar costs.'}</p>
      </PageHead>
      <div className="stack">
        <FindForm path="/prices" label="Part of a model’s id" placeholder="openai/gpt" q={q} />
        <PricesCard key={q ?? ''} model={q} onSaid={setSaid} />
        <SetPricesCard />
        <RatesCard onSaid={setSaid} />
      </div>
    </>
  );
}
