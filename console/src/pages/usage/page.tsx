// Where does it go: cost over time by group, the groups as a table, and from each bar and row the way to its calls.
import '../requests/requests.css';
import './usage.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { UsagePageDocument, type UsagePageQuery } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { type BarWords, SpendChart } from '../../ui/chart.tsx';
import { bucketText, spanText } from '../../ui/format/buckets.ts';
import { tileText } from '../../ui/format/numbers.ts';
import { Money } from '../../ui/money.tsx';
import { Bone, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { AdviceCard } from './advice.tsx';
import { ExportButton } from './export.tsx';
import { changeText, endOf, nameOf, seriesOf } from './figures.ts';
import { type Ask, groupNames, UsageFilters } from './filters.tsx';
import { SessionCard } from './session.tsx';
import { GroupsTable } from './table.tsx';
import { Views } from './views.tsx';
import { callsOf, readUsageSearch, type UsageSearch, variablesOf, wholeOf } from './wanted.ts';

type Usage = NonNullable<UsagePageQuery['usage']>;
/** From here on rows are late enough to be told. */
const LAG_S = 60;

function Tiles({ usage }: { usage: Usage | undefined }) {
  const before = usage?.previous?.totals;
  const tile = (name: string, value: ReactNode, now: number, then: number | undefined) => (
    <div className="card" key={name}>
      <dt>{name}</dt>
      <dd className="num">
        {usage ? value : <Bone width={90} height={24} />}
        {then !== undefined && <span className="sub">{changeText(now, then)}</span>}
      </dd>
    </div>
  );
  const {
    costMicro = '0',
    requests = 0,
    errors = 0,
    inputTokens = 0,
    outputTokens = 0,
  } = usage?.totals ?? {};
  return (
    <dl className="usage-tiles">
      {tile(
        'Cost',
        <Money micro={costMicro} as="spend" />,
        Number(costMicro),
        before && Number(before.costMicro),
      )}
      {tile('Calls', tileText(requests), requests, before?.requests)}
      {tile('Errors', tileText(errors), errors, before?.errors)}
      {tile('Tokens in', tileText(inputTokens), inputTokens, before?.inputTokens)}
      {tile('Tokens out', tileText(outputTokens), outputTokens, before?.outputTokens)}
    </dl>
  );
}

function wordsOf({ range }: Usage, search: UsageSearch): BarWords {
  const { granularity, timezone } = range;
  const unit = granularity === 'DAY' ? 'Day' : 'Hour';
  const open = search.range !== 'custom';
  return {
    ...{ head: `${unit} (${timezone})`, each: unit.toLowerCase(), open },
    note: `${unit}s in ${timezone}${open ? '; the last one is not over' : ''}. A bar, or Enter at it, opens its calls.`,
    textOf: (bucket) => bucketText(bucket, granularity, timezone),
  };
}

interface Shown {
  readonly usage: Usage | undefined;
  readonly search: UsageSearch;
  readonly nameOfKey: (key: string) => string;
}

function ChartCard({ usage, search, nameOfKey, onPick }: Shown & { onPick: (i: number) => void }) {
  const by = groupNames[wholeOf(search).group_by].toLowerCase();
  let body: ReactNode = <div className="usage-room" />;
  if (usage?.totals.requests === 0) {
    body = (
      <div className="usage-room">
        <Empty title="No call in this time">Choose a longer time, or take a filter away.</Empty>
      </div>
    );
  } else if (usage) {
    body = (
      <SpendChart
        label={`Cost by ${by}`}
        days={usage.series.map(({ bucket }) => bucket)}
        series={seriesOf(usage, nameOfKey)}
        words={wordsOf(usage, search)}
        onPick={onPick}
      />
    );
  }
  return <Card title={`Cost by ${by}`}>{body}</Card>;
}

/** The names of keys and projects, by id. */
function namesOf(data: UsagePageQuery | undefined): ReadonlyMap<string, string> {
  const named = [...(data?.keys?.nodes ?? []), ...(data?.projects ?? [])];
  return new Map(named.map(({ id, name }) => [id as string, name as string]));
}

function LagBanner({ lag_s }: { lag_s: number }) {
  if (lag_s <= LAG_S) return null;
  return (
    <p className="note usage-lag" role="status">
      <Status tone="warn" plain>
        Figures are {spanText(lag_s)} behind: calls of that time may be missing. Balances are not behind.
      </Status>
    </p>
  );
}

/** The question of the address, and how it is changed. */
function useQuestion() {
  const { slug, env } = useOrg();
  const raw = useSearch({ from: '/$org/$env/usage' });
  const search = useMemo(() => readUsageSearch(raw), [raw]);
  const navigate = useNavigate();
  const params = { org: slug, env };
  const open = (next: UsageSearch) => void navigate({ to: '/$org/$env/usage', params, search: next });
  const ask: Ask = (change) => open(readUsageSearch({ ...search, ...change }));
  const openCalls = (times: { from: string; to: string | null }) =>
    void navigate({ to: '/$org/$env/requests', params, search: callsOf(search, times) });
  return { search, open, ask, openCalls };
}

function Body(props: Shown & { open: (search: UsageSearch) => void; onPick: (i: number) => void }) {
  const { open, onPick, ...shown } = props;
  const { usage, search } = shown;
  const { session } = search;
  return (
    <>
      <LagBanner lag_s={usage?.analyticsLagS ?? 0} />
      <Tiles usage={usage} />
      <ChartCard {...shown} onPick={onPick} />
      {usage?.totals.requests !== 0 && (
        <Card title={`By ${groupNames[wholeOf(search).group_by].toLowerCase()}`} flush>
          <GroupsTable {...shown} onNarrow={open} />
        </Card>
      )}
      {usage && session !== undefined && session !== '' && (
        <SessionCard session={session} since={usage.range.from} until={usage.range.to} />
      )}
    </>
  );
}

export function UsagePage() {
  const { slug, env, environment } = useOrg();
  const { search, open, ask, openCalls } = useQuestion();
  const [tagging, setTagging] = useState(false);
  const [{ data, error }, again] = useQuery({
    query: UsagePageDocument,
    variables: { environment, ...variablesOf(search) },
    requestPolicy: 'cache-and-network',
  });
  const usage = data?.usage ?? undefined;
  const names = namesOf(data);
  const nameOfKey = (key: string) => nameOf(key, wholeOf(search).group_by, names);
  const { compare: _, ...exported } = { environment, ...variablesOf(search) };
  const asked: Ask = (change) => {
    setTagging(false);
    ask(change);
  };
  const onPick = (i: number) => {
    const from = usage?.series[i]?.bucket;
    if (usage && from !== undefined) openCalls({ from, to: endOf(usage, i) });
  };
  return (
    <>
      <PageHead
        title="Usage"
        actions={
          <>
            <Views search={search} open={open} />
            <ExportButton variables={exported} nameOfKey={nameOfKey} name={`usage-${slug}-${env}.csv`} />
          </>
        }
      >
        <p>What calls cost, and for whom. The address of this page is what you see.</p>
      </PageHead>
      <UsageFilters {...{ search, names, tagging }} ask={asked} onTag={setTagging} />
      <div className="stack">
        {error && !usage ? (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
          </div>
        ) : (
          <Body {...{ usage, search, nameOfKey, open, onPick }} />
        )}
        <AdviceCard />
      </div>
    </>
  );
}
