// The canaries of a policy, followed while the page is open.
import { useState } from 'react';
import { PolicyCanaryDocument } from '../../api/gen/tools/graphql.ts';
import { useLive } from '../../api/use-live.ts';
import { Card } from '../../ui/card.tsx';
import { shareText } from '../../ui/format/numbers.ts';
import { Status } from '../../ui/status.tsx';
import { type CanaryShown, canaryState, figuresText } from './canary-words.ts';

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
  const [canaries, setCanaries] = useState<readonly CanaryShown[]>([]);
  useLive({
    document: PolicyCanaryDocument,
    variables: { name },
    onData: ({ policyCanary }) => setCanaries(policyCanary),
  });
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
