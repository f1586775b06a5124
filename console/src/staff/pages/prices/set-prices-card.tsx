// Prices that staff set, the newest first, and what became of them.
import { useQuery } from 'urql';
import { SetPricesDocument } from '../../../api/gen/staff/graphql.ts';
import { Card } from '../../../ui/card.tsx';
import { dateText } from '../../../ui/format/time.ts';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { stateText } from './form.ts';

/** Nothing where none was set yet. */
export function SetPricesCard() {
  const [{ data }] = useQuery({ query: SetPricesDocument });
  const rows = data?.setPrices ?? [];
  if (rows.length === 0) return null;
  return (
    <Card title="Prices that staff set" note="By two people; the newest first." flush>
      <Table name="Set prices" stacks>
        <Columns of={['Model', 'Provider', 'From', 'Confirmed', 'State']} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.approvalId}>
              <td className="mail-answer">
                {row.model}
                <div className="sub mono">{row.endpointId}</div>
              </td>
              <td data-label="Provider">
                {row.provider}
                <div className="sub">{row.region}</div>
              </td>
              <td data-label="From">{dateText(row.from)}</td>
              <td className="soft" data-label="Confirmed">
                <Time at={row.setAt} />
              </td>
              <td data-label="State">
                <Status tone={row.state === 'COMING' || row.state === 'IN_FORCE' ? 'ok' : 'warn'}>
                  {stateText(row.state)}
                </Status>
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Card>
  );
}
