// The text of a version in the editor, what is wrong with it, and keeping it as the next version; beside it the try.
import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useRef, useState } from 'react';
import { CreatePolicyVersionDocument, type PolicyTextFragment } from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { may, useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { FormFault } from '../../ui/states.tsx';
import { DiffCard } from './diff-card.tsx';
import type { Remark } from './editor/editor.ts';
import { type EditorHandle, PolicyEditor } from './policy-editor.tsx';
import type { Desk, PolicyShown } from './policy-page.tsx';
import { TryCard } from './try-card.tsx';
import { useVerdict } from './use-verdict.ts';

function Remarks(props: { remarks: readonly Remark[]; editor: RefObject<EditorHandle | null> }) {
  const { remarks, editor } = props;
  return (
    <ul className="policy-remarks" aria-label="Findings">
      {remarks.map((remark) => (
        <li key={`${remark.path} ${remark.message}`} data-tone={remark.severity === 'error' ? 'bad' : 'warn'}>
          <button type="button" onClick={() => editor.current?.goTo(remark)}>
            <span className="sub">line {remark.line}</span>
            <span>
              <b className="mono">{remark.path}</b> {remark.message}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** `faults` null: not judged yet. */
function verdictText(faults: number | null): string {
  if (faults === null) return '';
  return faults > 0 ? `${plural(faults, 'fault')}. F8 goes to the next.` : 'The text stands.';
}

/** Keeps a text as the next version and shows that. */
function useKeep({ row, reread }: PolicyShown) {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const { busy, fault, sendOnce } = useSend();
  const keep = async (yaml: string) => {
    const made = await sendOnce(CreatePolicyVersionDocument, { name: row.name, yaml });
    if (made === null) return false;
    reread();
    const { version } = made.version;
    const params = { org: slug, env, name: row.name };
    void navigate({ to: '/$org/$env/policies/$name', params, search: { version } });
    return true;
  };
  return { busy, fault, keep };
}

interface Props {
  readonly shown: PolicyShown;
  readonly chosen: PolicyTextFragment;
  readonly desk: Desk;
}

export function TextPart({ shown, chosen, desk }: Props) {
  const { role } = useOrg();
  const { row, schema, editable } = shown;
  const [text, setText] = useState(desk.drafts.get(chosen.version) ?? chosen.yaml);
  const [first] = useState(text);
  const type = (typed: string) => {
    desk.drafts.set(chosen.version, typed);
    setText(typed);
  };
  const editor = useRef<EditorHandle>(null);
  const { verdict, good, fault, judge } = useVerdict(row.name);
  const { busy, fault: refused, keep } = useKeep(shown);
  const changed = text !== chosen.yaml;
  const faults = verdict?.remarks.filter(({ severity }) => severity === 'error').length ?? 0;
  const note = `version ${chosen.version}${changed ? ', changed' : ''}`;
  return (
    <div className="stack">
      <Card title="Text" note={note} flush>
        <PolicyEditor
          ref={editor}
          text={first}
          read_only={!editable}
          label={`Text of ${row.name}`}
          schema={schema}
          onText={type}
          judge={judge}
        />
        {verdict !== null && verdict.remarks.length > 0 && (
          <Remarks remarks={verdict.remarks} editor={editor} />
        )}
        <FormFault fault={refused ?? fault} />
        <div className="policy-foot">
          <span className="soft grow" role="status">
            {verdictText(verdict === null ? null : faults)}
          </span>
          {editable && (
            <Button
              kind={changed ? 'primary' : 'default'}
              busy={busy}
              disabled={!changed || faults > 0}
              onClick={() => void keep(text).then((done) => done && desk.drafts.delete(chosen.version))}
            >
              Keep as version {row.newestVersion + 1}
            </Button>
          )}
        </div>
      </Card>
      {may(role, 'policies') && (
        <>
          <TryCard shown={shown} text={good} desk={desk} />
          <DiffCard shown={shown} text={good} />
        </>
      )}
    </div>
  );
}
