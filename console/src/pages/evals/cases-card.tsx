// The cases of a revision: what is asked, and what a right answer is.
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  EvalSuiteCasesDocument,
  type EvalSuiteCasesQuery,
  type EvalSuiteQuery,
} from '../../api/gen/tools/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { BoneRows, ErrorBox } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { askedText, graderText } from './words.ts';

type History = NonNullable<EvalSuiteQuery['evalSuiteHistory']>;
type SuiteCase = NonNullable<EvalSuiteCasesQuery['evalSuiteCases']>['nodes'][number];

const PAGE = 50;

/** What is done to a case; absent where the person may not, or an older revision is shown. */
export interface CaseActs {
  readonly onAdd: () => void;
  readonly onEdit: (id: string) => void;
  readonly onRemove: (id: string) => void;
}

function Line({ one, acts }: { one: SuiteCase; acts: CaseActs | null }) {
  return (
    <tr>
      <td className="eval-name">
        {one.id}
        {one.weight !== 1 && <div className="sub">weight {one.weight}</div>}
      </td>
      <td className="eval-text">{askedText(one)}</td>
      <td className="eval-text">{graderText(one)}</td>
      <td className="soft">{one.tags.join(', ')}</td>
      {acts && (
        <td>
          <div className="eval-acts">
            <Button onClick={() => acts.onEdit(one.id)} aria-label={`Edit ${one.id}`}>
              Edit…
            </Button>
            <Button icon="x" onClick={() => acts.onRemove(one.id)} aria-label={`Remove ${one.id}`} />
          </div>
        </td>
      )}
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

export function CasesCard(props: {
  history: History;
  shown: number;
  onChoose: (revision: number) => void;
  acts: CaseActs | null;
}) {
  const { history, shown, acts } = props;
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
    <Card
      title="Cases"
      note={plural(count, 'case')}
      more={
        <div className="eval-acts">
          <RevisionChoice {...props} />
          {acts && (
            <Button icon="plus" aria-keyshortcuts="a" onClick={acts.onAdd}>
              Add a case
            </Button>
          )}
        </div>
      }
      flush
    >
      {error && !data ? (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      ) : (
        <Table name="List of cases" busy={rows === undefined}>
          <Columns
            of={[
              'Case',
              'Asked',
              'A right answer',
              'Tags',
              ...(acts ? [{ name: 'Acts', hidden: true }] : []),
            ]}
          />
          <tbody>
            {rows === undefined ? (
              <BoneRows rows={3} columns={acts ? 5 : 4} />
            ) : (
              rows.map((one) => <Line key={one.id} one={one} acts={acts} />)
            )}
          </tbody>
        </Table>
      )}
      <OlderFoot shown={rows?.length ?? 0} what="cases" order="oldest" {...older} />
    </Card>
  );
}
