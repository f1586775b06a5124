// The shadows of a policy: what the copies cost, how fast they began and how they ended, read again while they are made.
import { useQuery } from 'urql';
import { PolicyShadowsDocument } from '../../../api/gen/tools/graphql.ts';
import { useOrg } from '../../../app/org.tsx';
import { Card } from '../../../ui/card.tsx';
import { Status } from '../../../ui/status.tsx';
import { useAgain } from '../use-again.ts';
import { costText, endsText, type ShadowShown, scopeText, ttftText } from './words.ts';

/** As often as the service counts. */
const AGAIN_MS = 5_000;
const HOURS = 24;

function Shadow({ shadow }: { shadow: ShadowShown }) {
  const cost = costText(shadow);
  const ttft = ttftText(shadow);
  return (
    <li className="policy-trial">
      <span className="policy-canary">
        <code>{shadow.shadowEndpoint}</code>
        <span className="sub">version {shadow.policyVersion}</span>
        {!shadow.active && <Status tone="mute">ended</Status>}
      </span>
      <span className="sub">{scopeText(shadow)}</span>
      {shadow.primaryEndpoint != null && <span className="sub">beside {shadow.primaryEndpoint}</span>}
      {cost !== null && <span>cost {cost}</span>}
      {ttft !== null && <span>first token {ttft}</span>}
      <span className="sub">{endsText(shadow)}</span>
    </li>
  );
}

export function ShadowsCard({ name }: { name: string }) {
  const { environment } = useOrg();
  const [{ data }, again] = useQuery({
    query: PolicyShadowsDocument,
    variables: { name, hours: HOURS, environment },
    requestPolicy: 'cache-and-network',
  });
  const shadows = data?.policyShadows ?? [];
  useAgain(
    shadows.some(({ active }) => active),
    () => again({ requestPolicy: 'network-only' }),
    AGAIN_MS,
  );
  if (shadows.length === 0) return null;
  return (
    <Card title="Shadows" note="Copies of the last 24 hours; nobody got their answers." flush>
      <ul className="policy-canaries" aria-label="Shadows">
        {shadows.map((shadow) => (
          <Shadow
            key={`${shadow.policyVersion} ${shadow.shadowEndpoint} ${shadow.primaryEndpoint} ${shadow.bill}`}
            shadow={shadow}
          />
        ))}
      </ul>
    </Card>
  );
}
