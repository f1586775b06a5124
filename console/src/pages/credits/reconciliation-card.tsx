// The ledger beside the calls, day by day: what it charged, what the rows of the calls say, and that they agree.
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { ReconciliationDocument, type ReconciliationQuery } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Card } from '../../ui/card.tsx';
import { countText } from '../../ui/format/numbers.ts';
import { Money } from '../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';

type Report = NonNullable<NonNullable<ReconciliationQuery['credits']>['reconciliation']>;
type Figures = Omit<Report['totals'], '__typename'>;

function Cells({ figures }: { figures: Figures }) {
  const agrees = figures.varianceMicro === '0';
  const moved = [
    ['Opening', figures.openingMicro],
    ['Added', figures.addedMicro],
    ['Charged', figures.chargedMicro],
    ['Other', figures.otherDebitsMicro],
    ['Closing', figures.closingMicro],
    ['Usage', figures.usageMicro],
  ] as const;
  return (
    <>
      {moved.map(([name, micro]) => (
        <td key={name} className="n" data-label={name}>
          <Money micro={micro} />
        </td>
      ))}
      <td className="n soft" data-label="Calls">
        {countText(figures.requests)}
      </td>
      <td className="n" data-label="Variance">
        <Status tone={agrees ? 'ok' : 'bad'} plain>
          {agrees ? '$0' : <Money micro={figures.varianceMicro} signed />}
        </Status>
      </td>
    </>
  );
}

const columns = ['Opening', 'Added', 'Charged', 'Other', 'Closing', 'Usage', 'Calls', 'Variance'];

function Days({ report }: { report: Report | undefined }) {
  return (
    <Table name="Reconciliation by day" stacks busy={report === undefined}>
      <Columns of={['Day, UTC', ...columns.map((name) => ({ name, className: 'n' }))]} />
      <tbody>
        {report === undefined ? (
          <BoneRows rows={6} columns={9} />
        ) : (
          report.days.toReversed().map((day) => (
            <tr key={day.day}>
              <td className="num">{day.day}</td>
              <Cells figures={day} />
            </tr>
          ))
        )}
      </tbody>
      {report && (
        <tfoot>
          <tr className="totals">
            <th scope="row">Total</th>
            <Cells figures={report.totals} />
          </tr>
        </tfoot>
      )}
    </Table>
  );
}

export function ReconciliationCard() {
  const { environment } = useOrg();
  const [{ data, error }, again] = useQuery({
    query: ReconciliationDocument,
    variables: { environment },
    requestPolicy: 'cache-and-network',
  });
  const report = data?.credits?.reconciliation;
  return (
    <Card title="Reconciliation" note="The last 30 days: opening + added − charged − other = closing." flush>
      {error && !data && (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {data && !report && (
        <Empty title="Not for your role">Owners, admins and billing members see the reconciliation.</Empty>
      )}
      {report && !report.analytics && (
        <p className="note soft">The rows of the calls cannot be read now, so nothing was compared.</p>
      )}
      {!(error && !data) && (data === undefined || report) && <Days report={report ?? undefined} />}
    </Card>
  );
}
