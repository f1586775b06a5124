// The experiments of a policy: both arms side by side, and whether they differ, read again while they run.
import { useState } from 'react';
import { useQuery } from 'urql';
import { PolicyExperimentsDocument } from '../../../api/gen/tools/graphql.ts';
import { useOrg } from '../../../app/org.tsx';
import { Card } from '../../../ui/card.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { countText, shareText } from '../../../ui/format/numbers.ts';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { useAgain } from '../use-again.ts';
import {
  type ArmShown,
  decisionOf,
  differenceText,
  type Metric,
  metricNames,
  metricText,
  pairsOf,
} from './words.ts';

/** As often as the service counts. */
const AGAIN_MS = 5_000;

function Arms({ arms }: { arms: readonly ArmShown[] }) {
  return (
    <Table name="Arms">
      <Columns of={['Arm', { name: 'Calls', className: 'n' }, { name: 'Each', className: 'n' }]} />
      <tbody>
        {arms.map((arm) => (
          <tr key={arm.arm}>
            <td>
              {arm.arm.toLowerCase()} <span className="faint">{shareText(arm.percent / 100)}</span>
            </td>
            <td className="n">{countText(arm.samples)}</td>
            <td className="n">{metricText(arm.metric, arm.mean)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Experiment({ arms }: { arms: readonly ArmShown[] }) {
  const [first] = arms;
  const candidate = arms.find(({ arm }) => arm === 'CANDIDATE');
  if (first === undefined || candidate === undefined) return null;
  const decision = decisionOf(candidate);
  const difference = differenceText(candidate);
  return (
    <li className="policy-trial">
      <span className="policy-canary">
        <b>{first.experiment}</b>
        <span className="sub">version {first.version}</span>
        {decision !== null && <Status tone={decision.tone}>{decision.word}</Status>}
      </span>
      {difference !== null && <span className="sub">candidate: {difference}</span>}
      {candidate.reason !== '' && <span className="sub">{candidate.reason}</span>}
      <Arms arms={arms} />
    </li>
  );
}

export function ExperimentsCard({ name }: { name: string }) {
  const { environment } = useOrg();
  const [metric, setMetric] = useState<Metric>('ERROR_RATE');
  const [{ data }, again] = useQuery({
    query: PolicyExperimentsDocument,
    variables: { name, metric, environment },
    requestPolicy: 'cache-and-network',
  });
  const arms = data?.policyExperiments ?? [];
  useAgain(
    arms.some(({ active }) => active),
    () => again({ requestPolicy: 'network-only' }),
    AGAIN_MS,
  );
  if (arms.length === 0) return null;
  return (
    <Card title="Experiments" note="Differences with intervals that may be read at any time." flush>
      <div className="policy-metric">
        <SelectField
          label="Compare"
          value={metric}
          onChange={(event) => setMetric(event.target.value as Metric)}
        >
          {metricNames.map(([value, word]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </SelectField>
      </div>
      <ul className="policy-canaries" aria-label="Experiments">
        {pairsOf(arms).map((pair) => (
          <Experiment key={pair.key} arms={pair.arms} />
        ))}
      </ul>
    </Card>
  );
}
