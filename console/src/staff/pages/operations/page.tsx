// How the service runs: open workflows with the steps that fail, and what waits to be sent.
import { useSearch } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { StaffOperationsDocument, type StaffOperationsQuery } from '../../../api/gen/staff/graphql.ts';
import { useShortcuts } from '../../../app/shortcuts.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { BoneRows, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { To, useGo } from '../../go.tsx';
import { readKindSearch } from '../../search.ts';
import { kindName, lookText, queueNames, stateTones } from './words.ts';

type Workflows = NonNullable<StaffOperationsQuery['workflows']>;
type Outbox = NonNullable<StaffOperationsQuery['outbox']>;

function Kinds({ kinds }: { kinds: Workflows['kinds'] | undefined }) {
  const number = (name: string) => ({ name, className: 'n' });
  return (
    <Table name="Kinds of workflows" stacks busy={kinds === undefined}>
      <Columns of={['Kind', number('Failing'), number('Open'), number('To start'), 'Oldest']} />
      <tbody>
        {kinds === undefined ? (
          <BoneRows rows={4} columns={5} />
        ) : (
          kinds.map((kind) => (
            <tr key={kind.type}>
              <td>
                <To className="link" href={`/operations?type=${encodeURIComponent(kind.type)}`}>
                  {kindName(kind.type)}
                </To>
              </td>
              <td className="n" data-label="Failing">
                {kind.failing > 0 ? <Status tone="bad">{countText(kind.failing)}</Status> : '0'}
              </td>
              <td className="n" data-label="Open">
                {countText(kind.open)}
              </td>
              <td className="n" data-label="To start">
                {countText(kind.waiting)}
              </td>
              <td className="soft" data-label="Oldest">
                <Time at={kind.oldestAt} />
              </td>
            </tr>
          ))
        )}
      </tbody>
    </Table>
  );
}

function Line({ row }: { row: Workflows['workflows'][number] }) {
  return (
    <tr>
      <td>
        {kindName(row.type)}
        <div className="sub mono mail-answer">{row.id}</div>
      </td>
      <td data-label="State">
        <Status tone={stateTones[row.state]}>{row.state.toLowerCase()}</Status>
      </td>
      <td className="soft" data-label="Since">
        <Time at={row.since} />
      </td>
      <td data-label="Step">
        {row.step === null ? (
          <span className="soft">none fails</span>
        ) : (
          <>
            {row.step}
            <div className="sub">attempt {countText(row.attempt)}</div>
          </>
        )}
      </td>
      <td data-label="Last failure">
        <span className="mail-answer">{row.failure ?? ''}</span>
        {row.failedAt !== null && (
          <div className="sub">
            <Time at={row.failedAt} />
          </div>
        )}
      </td>
    </tr>
  );
}

/** The workflows themselves; of one kind where one was chosen. */
function WorkflowsCard({ seen, type }: { seen: Workflows | undefined; type: string | undefined }) {
  const rows = seen?.workflows;
  const all = type !== undefined && (
    <To className="link" href="/operations">
      All kinds
    </To>
  );
  return (
    <Card
      title={type === undefined ? 'Workflows' : kindName(type)}
      note="Those that fail first, then the oldest; at most 200."
      more={all || undefined}
      flush
    >
      {rows?.length === 0 ? (
        <Empty title="No workflow is open">What is asked for stands here until it has ended.</Empty>
      ) : (
        <Table name="Open workflows" stacks busy={rows === undefined}>
          <Columns of={['Workflow', 'State', 'Since', 'Step', 'Last failure']} />
          <tbody>
            {rows === undefined ? (
              <BoneRows rows={4} columns={5} />
            ) : (
              rows.map((row) => <Line key={row.id} row={row} />)
            )}
          </tbody>
        </Table>
      )}
    </Card>
  );
}

function QueuesCard({ outbox }: { outbox: Outbox | undefined }) {
  return (
    <Card title="What waits to be sent" flush>
      <Table name="Queues" stacks busy={outbox === undefined}>
        <Columns of={['Queue', { name: 'Waiting', className: 'n' }, 'Oldest']} />
        <tbody>
          {outbox === undefined ? (
            <BoneRows rows={6} columns={3} />
          ) : (
            outbox.queues.map(({ queue, waiting, oldestAt }) => (
              <tr key={queue}>
                <td>{queueNames[queue]}</td>
                <td className="n" data-label="Waiting">
                  {countText(waiting)}
                </td>
                <td className="soft" data-label="Oldest">
                  <Time at={oldestAt} never="nothing waits" />
                </td>
              </tr>
            ))
          )}
        </tbody>
      </Table>
    </Card>
  );
}

function EntriesCard({ outbox }: { outbox: Outbox | undefined }) {
  if (outbox === undefined || outbox.waiting.length === 0) return null;
  return (
    <Card title="The oldest of each queue" note="At most 50 each." flush>
      <Table name="What waits" stacks>
        <Columns
          of={['What', 'Organization', { name: 'Attempts', className: 'n' }, 'Since', 'Next', 'Answer']}
        />
        <tbody>
          {outbox.waiting.map((row, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: several deliveries to a webhook have its id
            <tr key={`${row.queue} ${row.id} ${n}`}>
              <td>
                {row.what.replaceAll('_', ' ')}
                <div className="sub">{queueNames[row.queue]}</div>
              </td>
              <td data-label="Organization">
                {row.orgId === null ? (
                  <span className="soft">none</span>
                ) : (
                  <To className="link mono mail-answer" href={`/orgs/${row.orgId}`}>
                    {row.orgId}
                  </To>
                )}
              </td>
              <td className="n" data-label="Attempts">
                {countText(row.attempts)}
              </td>
              <td className="soft" data-label="Since">
                <Time at={row.createdAt} />
              </td>
              <td className="soft" data-label="Next">
                <Time at={row.nextAt} never="at once" />
              </td>
              <td className="mail-answer" data-label="Answer">
                {row.answer}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}

export function OperationsPage() {
  const { type } = readKindSearch(useSearch({ strict: false }));
  const [{ data, error }, again] = useQuery({
    ...{ query: StaffOperationsDocument, variables: type === undefined ? {} : { type } },
    requestPolicy: 'cache-and-network',
  });
  const go = useGo();
  const reread = () => again({ requestPolicy: 'network-only' });
  useShortcuts({ c: reread, ...(type === undefined ? {} : { x: () => go('/operations') }) });
  const seen = data?.workflows ?? undefined;
  const outbox = data?.outbox ?? undefined;
  return (
    <>
      <PageHead
        title="Operations"
        actions={
          <Button icon="refresh" aria-keyshortcuts="c" onClick={reread}>
            Read again
          </Button>
        }
      >
        <p>
          {seen && lookText(seen)} {seen?.lookedAt != null && <Time at={seen.lookedAt} />}
        </p>
      </PageHead>
      <div className="stack">
        {error && !data?.workflows && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
        {(seen !== undefined || !error) && (
          <>
            {seen?.kinds.length !== 0 && (
              <Card title="By kind" flush>
                <Kinds kinds={seen?.kinds} />
              </Card>
            )}
            <WorkflowsCard seen={seen} type={type} />
            <QueuesCard outbox={outbox} />
            <EntriesCard outbox={outbox} />
          </>
        )}
      </div>
    </>
  );
}
