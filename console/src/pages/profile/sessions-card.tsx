// Where the person is signed in, and ending it.
import { useCallback, useEffect, useState } from 'react';
import { endSession, listSessions, type OwnSession } from '../../api/account.ts';
import type { Fault } from '../../api/errors.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { BoneRows, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { deviceText } from './device.ts';

function Row({ session, onEnd }: { session: OwnSession; onEnd: () => void }) {
  const device = deviceText(session.user_agent);
  return (
    <tr>
      <td className="session-device">
        <div className="two">
          <div className="ellipsis" title={session.user_agent ?? undefined}>
            {device}
          </div>
          <div className="sub">{session.ip_prefix ?? 'address not kept'}</div>
        </div>
      </td>
      <td className="soft">
        <Time at={session.last_seen_at} />
      </td>
      <td className="n row-menu">
        {session.current ? (
          <Status tone="ok">this one</Status>
        ) : (
          <Button kind="quiet" aria-label={`End the session of ${device}`} onClick={onEnd}>
            End
          </Button>
        )}
      </td>
    </tr>
  );
}

/** `since` changes when the sessions did. */
export function SessionsCard({ since, onEverywhere }: { since: number; onEverywhere: () => void }) {
  const [sessions, setSessions] = useState<readonly OwnSession[] | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const read = useCallback(async () => {
    const answer = await listSessions();
    setFault(answer.ok ? null : answer.fault);
    if (answer.ok) setSessions(answer.value.data);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `since` is the trigger
  useEffect(() => void read(), [read, since]);
  const end = async (id: string) => {
    const answer = await endSession(id);
    if (!answer.ok) setFault(answer.fault);
    else await read();
  };
  return (
    <Card
      title="Sessions"
      note="where you are signed in"
      more={
        <Button kind="quiet" onClick={onEverywhere}>
          Sign out everywhere
        </Button>
      }
      flush
    >
      {fault && <ErrorBox fault={fault} onRetry={() => void read()} />}
      <Table name="List of sessions" busy={sessions === null}>
        <Columns
          of={['Program and network', 'Last seen', { name: 'Session', className: 'row-menu', hidden: true }]}
        />
        <tbody>
          {sessions === null ? (
            <BoneRows rows={2} columns={3} />
          ) : (
            sessions.map((session) => (
              <Row key={session.id} session={session} onEnd={() => void end(session.id)} />
            ))
          )}
        </tbody>
      </Table>
    </Card>
  );
}
