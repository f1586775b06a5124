// Each answer with its grade, a page at a time, by target and by whether it passed.
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  type EvalResultRowFragment,
  EvalResultsDocument,
  type EvalRunRowFragment,
} from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import type { EvalRunSearch } from '../../app/search.ts';
import { Card } from '../../ui/card.tsx';
import { Money } from '../../ui/money.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { markOfResult, reasonText, scoreText, targetText } from './words.ts';

const PAGE = 50;

interface Props {
  readonly run: EvalRunRowFragment;
  readonly search: EvalRunSearch;
  readonly onChange: (next: EvalRunSearch) => void;
}

/** Characters of an answer that stand in the table at once. */
const SHOWN_MAX = 300;

function Answer({ text }: { text: string | null | undefined }) {
  if (text === null || text === undefined) return <span className="faint">not kept</span>;
  if (text.length <= SHOWN_MAX) return text;
  return (
    <details>
      <summary>{text.slice(0, SHOWN_MAX)}…</summary>
      {text.slice(SHOWN_MAX)}
    </details>
  );
}

function Line({ row, many }: { row: EvalResultRowFragment; many: boolean }) {
  const { slug, env } = useOrg();
  const { tone, shape, word } = markOfResult(row);
  const called = row.requestId !== '';
  return (
    <tr>
      <td className="eval-name" data-label="Case">
        {called ? (
          <Link className="link" to="/$org/$env/requests/$id" params={{ org: slug, env, id: row.requestId }}>
            {row.caseId}
          </Link>
        ) : (
          row.caseId
        )}
        {many && <div className="sub">{targetText(row.target)}</div>}
      </td>
      <td data-label="Grade">
        <Status tone={tone} shape={shape}>
          {word}
        </Status>
      </td>
      <td className="n" data-label="Score">
        {row.status === 'SKIPPED' ? '–' : scoreText(row.score)}
      </td>
      <td className="eval-text" data-label="Answer">
        <Answer text={row.output} />
      </td>
      <td className="eval-text soft" data-label="Why">
        {reasonText(row)}
      </td>
      <td className="n" data-label="Cost">
        <Money micro={row.costMicro} />
      </td>
    </tr>
  );
}

function Filters({ run, search, onChange }: Props) {
  const { passed, target, ...others } = search;
  const set = (change: { passed?: string; target?: string }) => {
    const next = { passed: passed ?? '', target: target === undefined ? '' : String(target), ...change };
    onChange({
      ...others,
      ...(next.passed === 'yes' || next.passed === 'no' ? { passed: next.passed } : {}),
      ...(next.target === '' ? {} : { target: Number(next.target) }),
    });
  };
  return (
    <span className="row wrap">
      {run.targets.length > 1 && (
        <select
          aria-label="Target"
          className="input eval-choice"
          value={target ?? ''}
          onChange={(event) => set({ target: event.target.value })}
        >
          <option value="">All targets</option>
          {run.targets.map((one, n) => (
            <option key={targetText(one)} value={n}>
              {targetText(one)}
            </option>
          ))}
        </select>
      )}
      <select
        aria-label="Grade"
        className="input eval-choice"
        value={passed ?? ''}
        onChange={(event) => set({ passed: event.target.value })}
      >
        <option value="">All answers</option>
        <option value="yes">Passed</option>
        <option value="no">Not passed</option>
      </select>
    </span>
  );
}

function Rows({ run, search }: Props) {
  const client = useClient();
  const variables = {
    ...{ id: run.id, first: PAGE },
    ...(search.passed === undefined ? {} : { passed: search.passed === 'yes' }),
    ...(search.target === undefined ? {} : { target: search.target }),
  };
  // What is in the cache is read again below, where nothing was read on.
  const [{ data, error }, again] = useQuery({
    ...{ query: EvalResultsDocument, variables },
    requestPolicy: 'cache-first',
  });
  const { done, total } = run.counts;
  // The first page is read again while it fills; a list that was read on stays as it is.
  const filled = done < total && done <= PAGE ? done : total;
  // Once for each choice: coming back to one would drop what was read on meanwhile.
  const read = useRef(new Set<string>());
  const choice = `${filled} ${search.passed} ${search.target}`;
  useEffect(() => {
    if (filled === 0 || read.current.has(choice)) return;
    read.current.add(choice);
    again({ requestPolicy: 'network-only' });
  }, [again, filled, choice]);
  const { rows, ...older } = useOlder(data?.evalResults, async (after) => {
    const { data: page, error } = await client
      .query(EvalResultsDocument, { ...variables, after })
      .toPromise();
    return { page: page?.evalResults, error };
  });
  if (error && !data)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (rows?.length === 0)
    return <Empty title="No answer here">Answers stand here as they come, each with its grade.</Empty>;
  return (
    <>
      <Table name="List of results" stacks busy={rows === undefined}>
        <Columns
          of={[
            ...['Case', 'Grade'],
            { name: 'Score', className: 'n' },
            ...['Answer', 'Why'],
            { name: 'Cost', className: 'n' },
          ]}
        />
        <tbody>
          {rows === undefined ? (
            <BoneRows rows={3} columns={6} />
          ) : (
            rows.map((row) => <Line key={row.id} row={row} many={run.targets.length > 1} />)
          )}
        </tbody>
      </Table>
      <OlderFoot shown={rows?.length ?? 0} what="answers" order="oldest" {...older} />
    </>
  );
}

export function ResultsCard(props: Props) {
  return (
    <Card title="Results" more={<Filters {...props} />} flush>
      <Rows {...props} />
    </Card>
  );
}
