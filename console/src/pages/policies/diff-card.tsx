// What a text would change: the calls of the last day routed again, by what rules them now and by the text.
import { useState } from 'react';
import { useClient } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import { DiffPolicyDocument, type DiffPolicyQuery } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { countText, plural } from '../../ui/format/numbers.ts';
import { FormFault } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { differenceOf, diffText } from './diff-words.ts';
import type { PolicyShown } from './policy-page.tsx';

type Diff = NonNullable<DiffPolicyQuery['policyDiff']>;
type Move = Diff['moves'][number];

const keyOf = ({ model, from, to }: Move) => `${model} ${from?.endpointId} ${to?.endpointId}`;

function Place({ at }: { at: { provider: string; region: string } | null | undefined }) {
  if (!at) return <span className="faint">refused</span>;
  return (
    <>
      {at.provider} <span className="faint">{at.region}</span>
    </>
  );
}

function Moves({ moves }: { moves: Diff['moves'] }) {
  return (
    <Table name="Calls that go elsewhere">
      <Columns
        of={[
          'Model',
          'From',
          'To',
          { name: 'Calls', className: 'n' },
          { name: 'Difference', className: 'n' },
        ]}
      />
      <tbody>
        {moves.map((move) => (
          <tr key={keyOf(move)}>
            <td>{move.model}</td>
            <td>
              <Place at={move.from} />
            </td>
            <td>
              <Place at={move.to} />
            </td>
            <td className="n">{countText(move.calls)}</td>
            <td className="n">{differenceOf(move.differenceMicroUsd)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** The difference of the text that was compared last. */
function useDiff({ row }: PolicyShown) {
  const client = useClient();
  const { environment } = useOrg();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const [diff, setDiff] = useState<{ text: string; found: Diff } | null>(null);
  const projectId = row.scopes[0]?.projectId ?? null;
  const compare = async (text: string) => {
    setBusy(true);
    const variables = { name: row.name, yaml: text, scope: { projectId }, environment };
    const { data, error } = await client
      .query(DiffPolicyDocument, variables, { requestPolicy: 'network-only' })
      .toPromise();
    setBusy(false);
    setFault(error ? faultOfQuery(error) : null);
    setDiff(data?.policyDiff ? { text, found: data.policyDiff } : null);
  };
  return { busy, fault, diff, compare };
}

export function DiffCard({ shown, text }: { shown: PolicyShown; text: string | null }) {
  const { busy, fault, diff, compare } = useDiff(shown);
  const button = (
    <Button busy={busy} disabled={text === null} onClick={() => text !== null && void compare(text)}>
      Compare
    </Button>
  );
  return (
    <Card title="Difference" note="The calls of the last 24 hours, routed again." more={button} flush>
      <FormFault fault={fault} />
      {diff !== null && (
        <div className="policy-outcome" role="status">
          <span>{diffText(diff.found)}</span>
          {diff.text !== text && <span className="soft">The text has changed since.</span>}
          {diff.found.compared < diff.found.calls && (
            <span className="soft">
              The newest of {plural(diff.found.calls, 'call')} that can still be routed.
            </span>
          )}
        </div>
      )}
      {diff !== null && diff.found.moves.length > 0 && <Moves moves={diff.found.moves} />}
    </Card>
  );
}
