// The canaries of a policy, read again while they run.
import { useQuery } from 'urql';
import { PolicyCanariesDocument } from '../../api/gen/graphql.ts';
import { Card } from '../../ui/card.tsx';
import { shareText } from '../../ui/format/numbers.ts';
import { Status } from '../../ui/status.tsx';
import { type CanaryShown, canaryState, figuresText } from './canary-words.ts';
import { useAgain } from './use-again.ts';

/** As often as the service judges. */
const AGAIN_MS = 5_000;

function Canary({ canary }: { canary: CanaryShown }) {
  const { tone, word } = canaryState(canary);
  const figures = figuresText(canary);
  return (
    <li className="policy-trial">
      <span className="policy-canary">
        <b>Version {canary.version}</b>
        <Status tone={tone}>{word}</Status>
      </span>
      <span className="sub mono">{canary.endpointId}</span>
      <span className="sub">{shareText(canary.percent / 100)} of the calls</span>
      {figures !== null && <span className="sub">{figures}</span>}
      {canary.reason !== '' && <span className="sub">{canary.reason}</span>}
    </li>
  );
}

export function CanariesCard({ name }: { name: string }) {
  const [{ data }, again] = useQuery({
    query: PolicyCanariesDocument,
    variables: { name },
    requestPolicy: 'cache-and-network',
  });
  const canaries = data?.policyCanaries ?? [];
  const running = canaries.some(({ state }) => state === 'PENDING' || state === 'GREEN');
  useAgain(running, () => again({ requestPolicy: 'network-only' }), AGAIN_MS);
  if (canaries.length === 0) return null;
  return (
    <Card title="Canaries" note="Judged against the calls that went elsewhere." flush>
      <ul className="policy-canaries" aria-label="Canaries">
        {canaries.map((canary) => (
          <Canary key={`${canary.version} ${canary.endpointId}`} canary={canary} />
        ))}
      </ul>
    </Card>
  );
}
