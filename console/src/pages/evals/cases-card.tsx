// The cases of a revision: what is asked, and what a right answer is.
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  EvalSuiteCasesDocument,
  type EvalSuiteCasesQuery,
  type EvalSuiteQuery,
} from '../../api/gen/tools/graphql.ts';
import { Card } from '../../ui/card.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { BoneRows, ErrorBox } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { askedText, graderText } from './words.ts';

type History = NonNullable<EvalSuiteQuery['evalSuiteHistory']>;
type SuiteCase = NonNullable<EvalSuiteCasesQuery['evalSuiteCases']>['nodes'][number];

const PAGE = 50;

function Line({ one }: { one: SuiteCase }) {
  return (
    <tr>
      <td className="eval-name">
        {one.id}
        {one.weight !== 1 && <div className="sub">weight {one.weight}</div>}
      </td>
      <td className="eval-text">{askedText(one)}</td>
      <td className="eval-text">{graderText(one)}</td>
      <td className="soft">{one.tags.join(', ')}</td>
    </tr>
  );
}

/** Which revision is shown; one alone needs no choice. */
export function RevisionChoice(props: {
  history: History;
  shown: number;
  onChoose: (revision: number) => void;
}) {
  const { history, shown, onChoose } = props;
  const { revisions } = history;
  if (revisions.length < 2) return null;
  return (
    <select
      aria-label="Revision"
      className="input eval-choice"
      value={shown}
      onChange={(event) => onChoose(Number(event.target.value))}
    >
      {revisions.map(({ revision, runs, current }) => (
        <option key={revision} value={revision}>
          {`Revision ${revision}${current ? ', current' : ''}, ${plural(runs, 'run')}`}
        </option>
      ))}
    </select>
  );
}

export function CasesCard(props: { history: History; shown: number; onChoose: (revision: number) => void }) {
  const { history, shown } = props;
  const client = useClient();
  const variables = { id: history.suite.id, revision: shown, first: PAGE };
  const [{ data, error }, again] = useQuery({ query: EvalSuiteCasesDocument, variables });
  const { rows, ...older } = useOlder(data?.evalSuiteCases, async (after) => {
    const { data: page, error } = await client
      .query(EvalSuiteCasesDocument, { ...variables, after })
      .toPromise();
    return { page: page?.evalSuiteCases, error };
  });
  const count = history.revisions.find(({ revision }) => revision === shown)?.caseCount ?? 0;
  return (
    <Card title="Cases" note={plural(count, 'case')} more={<RevisionChoice {...props} />} flush>
      {error && !data ? (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      ) : (
        <Table name="List of cases" busy={rows === undefined}>
          <Columns of={['Case', 'Asked', 'A right answer', 'Tags']} />
          <tbody>
            {rows === undefined ? (
              <BoneRows rows={3} columns={4} />
            ) : (
              rows.map((one) => <Line key={one.id} one={one} />)
            )}
          </tbody>
        </Table>
      )}
      <OlderFoot shown={rows?.length ?? 0} what="cases" order="oldest" {...older} />
    </Card>
  );
}
