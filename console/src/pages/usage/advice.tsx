// What could have cost less, each sentence with the way to the calls, or the sums, that prove it.
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { UsageAdviceDocument, type UsageAdviceQuery } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Card } from '../../ui/card.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { utcMinute } from '../../ui/format/time.ts';
import { Money } from '../../ui/money.tsx';
import { Bone, ErrorBox } from '../../ui/states.tsx';

type Advice = NonNullable<UsageAdviceQuery['usageAdvice']>;
type Item = Advice['data'][number];

function Proof({ item, from }: { item: Item; from: string }) {
  const { slug, env } = useOrg();
  const params = { org: slug, env };
  const since = utcMinute(from);
  const { model, provider, keyId } = item;
  if (item.kind === 'CACHE_READS_MISSED') {
    const search = {
      model,
      ...(keyId === null || keyId === undefined ? {} : { key_id: keyId }),
      group_by: 'key',
    } as const;
    return (
      <Link className="link" to="/$org/$env/usage" params={params} search={search}>
        See the key
      </Link>
    );
  }
  const moved = item.kind === 'RETRIES_PAID' ? { moved: true as const } : {};
  const search = {
    model,
    provider,
    status: 'ok' as const,
    ...(since === undefined ? {} : { from: since }),
    ...moved,
  };
  return (
    <Link className="link" to="/$org/$env/requests" params={params} search={search}>
      See the calls
    </Link>
  );
}

export function AdviceCard() {
  const { environment } = useOrg();
  const [{ data, error }, again] = useQuery({
    query: UsageAdviceDocument,
    variables: { environment, range: 'D7' as const },
  });
  const advice = data?.usageAdvice;
  const note = advice ? `from ${plural(advice.calls, 'call')} of the last 7 days` : undefined;
  return (
    <Card title="What could cost less" note={note}>
      {error && !advice && (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {!advice && !error && <Bone width={280} />}
      {advice?.data.length === 0 && <p className="soft">Nothing that the calls and their prices prove.</p>}
      {advice && advice.data.length > 0 && (
        <ul className="advice">
          {advice.data.map((item) => (
            <li key={item.sentence}>
              <b className="num">
                <Money micro={item.savingMicro} as="spend" />
              </b>
              <span>
                {item.sentence} <Proof item={item} from={advice.range.from} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
