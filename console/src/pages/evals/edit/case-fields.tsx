// The fields of a case: what is asked, and what a right answer is.
import { useState } from 'react';
import type { EvalGraderKind } from '../../../api/gen/tools/graphql.ts';
import { AreaField, SelectField, TextField } from '../../../ui/field.tsx';
import type { Faults, Typed } from './case-form.ts';

interface Of {
  readonly typed: Typed;
  readonly faults: Faults;
}

const kinds: Readonly<Record<EvalGraderKind, string>> = {
  EXACT: 'Is the answer',
  CONTAINS: 'Contains parts',
  REGEX: 'Matches a pattern',
  NUMERIC: 'Is a number',
  JSON_SCHEMA: 'JSON that fits a schema',
  JUDGE: 'A model judges it',
};

/** A field by its name in the form. */
function Line({ name, label, hint, typed, faults }: Of & { name: string; label: string; hint?: string }) {
  return (
    <TextField
      label={label}
      name={name}
      hint={hint}
      autoComplete="off"
      spellCheck={false}
      defaultValue={typed[name]}
      fault={faults[name] ?? null}
    />
  );
}

function Area({ name, label, hint, typed, faults }: Of & { name: string; label: string; hint?: string }) {
  return (
    <AreaField
      label={label}
      name={name}
      hint={hint}
      spellCheck={false}
      defaultValue={typed[name]}
      fault={faults[name] ?? null}
    />
  );
}

function Tick({ name, label, typed }: Pick<Of, 'typed'> & { name: string; label: string }) {
  return (
    <label className="check">
      <input type="checkbox" name={name} defaultChecked={typed[name] === 'on'} />
      <span>{label}</span>
    </label>
  );
}

function Choice(props: Of & { name: string; label: string; of: readonly (readonly [string, string])[] }) {
  const { name, label, of, typed, faults } = props;
  return (
    <SelectField label={label} name={name} defaultValue={typed[name]} fault={faults[name] ?? null}>
      {of.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </SelectField>
  );
}

const modes = [
  ['all', 'All of them'],
  ['any', 'Any of them'],
  ['none', 'None of them'],
] as const;
const picks = [
  ['last', 'The last number'],
  ['first', 'The first number'],
] as const;

/** The fields that graders of a kind have. */
function Grader({ kind, ...of }: Of & { kind: EvalGraderKind }) {
  switch (kind) {
    case 'EXACT':
    case 'CONTAINS':
      return (
        <>
          <Area
            name="expected"
            label={kind === 'EXACT' ? 'Right answers' : 'Parts'}
            hint="One a line; with line breaks inside as a list in JSON."
            {...of}
          />
          {kind === 'CONTAINS' && <Choice name="mode" label="Which must be there" of={modes} {...of} />}
          {kind === 'EXACT' && <Tick name="trim" label="White space around does not count" {...of} />}
          <Tick name="ignoreCase" label="Small and capital letters are the same" {...of} />
        </>
      );
    case 'REGEX':
      return (
        <>
          <Line name="pattern" label="Pattern" hint="RE2 syntax." {...of} />
          <Line name="flags" label="Flags" hint="Of i, m, s." {...of} />
          <Tick name="fullMatch" label="The whole answer matches" {...of} />
        </>
      );
    case 'NUMERIC':
      return (
        <>
          <Line name="expected" label="Number" {...of} />
          <div className="eval-fields">
            <Line name="abs" label="Off by at most" {...of} />
            <Line name="rel" label="Off by at most, share" {...of} />
          </div>
          <Choice name="pick" label="Which counts" of={picks} {...of} />
        </>
      );
    case 'JSON_SCHEMA':
      return <Area name="schema" label="Schema" hint="Draft 2020-12, 64 KiB at most." {...of} />;
    case 'JUDGE':
      return (
        <>
          <Area name="rubric" label="Rubric" hint="What the judge looks at." {...of} />
          <Area
            name="reference"
            label="Reference"
            hint="A right answer that the judge sees; may be empty."
            {...of}
          />
          <Line name="judge" label="Model of the judge" hint="Empty: that of the run." {...of} />
          <div className="eval-fields">
            <Line name="scale" label="Grades from 1 to" hint="5 unless given." {...of} />
            <Line name="threshold" label="Passes from" hint="4 unless given." {...of} />
          </div>
        </>
      );
  }
}

/** All fields; `as_json` and `onJson`: how the messages are written. */
export function CaseFieldSet(
  props: Of & { as_json: boolean; onJson: (as_json: boolean, form: HTMLFormElement | null) => void },
) {
  const { as_json, onJson, ...of } = props;
  const { typed, faults } = of;
  const [kind, setKind] = useState(typed['kind'] as EvalGraderKind);
  return (
    <>
      <Line name="id" label="Name of the case" hint="Unique in the suite; empty: a number." {...of} />
      {as_json ? (
        <Area key="messages" name="messages" label="Messages" hint="A list in JSON, as in a call." {...of} />
      ) : (
        <Area key="question" name="question" label="Question" {...of} />
      )}
      <label className="check">
        <input
          type="checkbox"
          checked={as_json}
          onChange={(event) => onJson(event.target.checked, event.target.form)}
        />
        <span>Write the messages as JSON</span>
      </label>
      <SelectField
        label="A right answer"
        name="kind"
        value={kind}
        onChange={(event) => setKind(event.target.value as EvalGraderKind)}
        fault={faults['kind'] ?? null}
      >
        {Object.entries(kinds).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </SelectField>
      <Grader key={kind} kind={kind} {...of} />
      <details className="eval-more" open={moreIn(of)}>
        <summary>More</summary>
        <div className="eval-form">
          <Area name="system" label="System text" {...of} />
          <Line name="model" label="Model" hint="For runs whose targets name none." {...of} />
          <Area name="generation" label="Settings of the call" hint="JSON, as max_tokens." {...of} />
          <Area name="tools" label="Tools" hint="A list in JSON." {...of} />
          <div className="eval-fields">
            <Line name="weight" label="Weight" {...of} />
            <Line name="tags" label="Tags" hint="Between commas." {...of} />
          </div>
        </div>
      </details>
    </>
  );
}

/** Whether something stands in the fields that are folded away, or is wrong there. */
function moreIn({ typed, faults }: Of): boolean {
  const folded = ['system', 'model', 'generation', 'tools', 'tags'];
  return (
    typed['weight'] !== '1' ||
    folded.some((name) => typed[name] !== '') ||
    [...folded, 'weight'].some((name) => faults[name] !== undefined)
  );
}
