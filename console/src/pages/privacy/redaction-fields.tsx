// What is replaced before a call leaves: kinds that are known, and patterns of the organisation's own.
import { AreaField } from '../../ui/field.tsx';
import { type Draft, presetWords } from './policy.ts';

export function RedactionFields(props: {
  draft: Draft;
  onDraft: (draft: Draft) => void;
  locked: boolean;
  /** Patterns that a field with a pattern a line cannot show. */
  odd: boolean;
  fault: string | null;
}) {
  const { draft, onDraft, locked, odd, fault } = props;
  const toggle = (preset: string) => {
    const presets = new Set(draft.presets);
    if (!presets.delete(preset)) presets.add(preset);
    onDraft({ ...draft, presets });
  };
  return (
    <>
      <fieldset className="privacy-presets">
        <legend>Replaced before a call is read, stored or sent</legend>
        {Object.entries(presetWords).map(([preset, words]) => (
          <label className="check" key={preset}>
            <input
              type="checkbox"
              checked={draft.presets.has(preset)}
              disabled={locked}
              onChange={() => toggle(preset)}
            />
            <span>{words}</span>
          </label>
        ))}
      </fieldset>
      <AreaField
        label="Patterns of your own"
        name="patterns"
        rows={3}
        className="input area mono"
        spellCheck={false}
        autoComplete="off"
        value={draft.patterns}
        readOnly={locked || odd}
        onChange={({ target }) => onDraft({ ...draft, patterns: target.value })}
        fault={fault}
        hint={
          odd
            ? 'One of them has a line break: they are changed over the API.'
            : 'One a line, at most 20, in RE2 syntax, such as PRJ-\\d+.'
        }
      />
    </>
  );
}
