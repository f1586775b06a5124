// A conversation or a run of an agent: its calls in the order in which they were made.
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { SessionCallsDocument } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Card } from '../../ui/card.tsx';
import { RowLink } from '../../ui/feed.tsx';
import { countText, durationText, plural } from '../../ui/format/numbers.ts';
import { Money } from '../../ui/money.tsx';
import { BoneRows, ErrorBox } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';

export function SessionCard({ session, since, until }: { session: string; since: string; until: string }) {
  const { environment } = useOrg();
  const [{ data, error }, again] = useQuery({
    query: SessionCallsDocument,
    variables: { environment, session, since, until },
  });
  const calls = data?.requests;
  const note = calls?.pageInfo.hasNextPage
    ? `the last ${plural(calls.nodes.length, 'call')}, the first of them first`
    : 'the first call first';
  return (
    <Card title="The session, call by call" note={note} flush>
      {error && !calls ? (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      ) : (
        <Table name="Calls of the session" busy={calls === undefined} stacks>
          <Columns
            of={[
              'Time',
              'Model',
              { name: 'Tokens in / out', className: 'n' },
              { name: 'Took', className: 'n' },
              { name: 'Cost', className: 'n' },
            ]}
          />
          <tbody>
            {calls === undefined || calls === null ? (
              <BoneRows rows={3} columns={5} />
            ) : (
              calls.nodes.toReversed().map((row) => (
                <tr key={row.id}>
                  <td>
                    <RowLink row={row} />
                  </td>
                  <td data-label="Model">{row.model}</td>
                  <td className="n" data-label="Tokens in / out">
                    {countText(row.inputTokens)}{' '}
                    <span className="faint">/ {countText(row.outputTokens)}</span>
                  </td>
                  <td className="n soft" data-label="Took">
                    {durationText(row.durationMs)}
                  </td>
                  <td className="n" data-label="Cost">
                    <Money micro={row.costMicro} />
                  </td>
                </tr>
              ))
            )}
          </tbody>
        </Table>
      )}
    </Card>
  );
}
