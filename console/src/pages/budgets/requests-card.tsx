// What was asked for, and what became of it.
import type { LimitTicketFragment } from '../../api/gen/graphql.ts';
import { Card } from '../../ui/card.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const marks: Partial<Record<LimitTicketFragment['status'], { tone: Tone; word: string }>> = {
  OPEN: { tone: 'warn', word: 'waits' },
  APPROVED: { tone: 'ok', word: 'granted' },
  REJECTED: { tone: 'mute', word: 'refused' },
};

export function RequestsCard({ rows }: { rows: readonly LimitTicketFragment[] }) {
  return (
    <Card title="Requests for higher limits" flush>
      <Table name="List of requests for higher limits" stacks>
        <Columns of={['Asked', 'For', 'State', 'Answer']} />
        <tbody>
          {rows.map((row) => {
            const { tone, word } = marks[row.status] ?? { tone: 'mute', word: row.status.toLowerCase() };
            return (
              <tr key={row.id}>
                <td className="soft" data-label="Asked">
                  <Time at={row.createdAt} />
                </td>
                <td data-label="For">{row.subject}</td>
                <td data-label="State">
                  <Status tone={tone}>{word}</Status>
                </td>
                <td className="soft" data-label="Answer">
                  {row.resolution === '' ? '–' : row.resolution}
                </td>
              </tr>
            );
          })}
        </tbody>
      </Table>
    </Card>
  );
}
