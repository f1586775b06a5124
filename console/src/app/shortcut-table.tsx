// The keys that work without a pointer.
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { itemsFor } from './nav.ts';
import { useOrg } from './org.tsx';

const before: readonly (readonly [string, string])[] = [
  ['Ctrl K or ⌘ K', 'go to a page, an action or a call'],
  ['/', 'open a call by its id'],
];
const after: typeof before = [
  ['J and K', 'next and previous call'],
  ['Enter', 'open the call'],
  ['Y', 'copy the id of the call'],
  ['Space', 'hold the live list of calls, and let it go on'],
  ['.', 'show the calls that wait'],
  ['C', 'the main action of the page'],
  ['Shift E', 'switch between live and sandbox'],
  ['Esc', 'close'],
  ['?', 'this table'],
];

export function ShortcutTable({ onClose }: { onClose: () => void }) {
  const place = useOrg();
  const pages = itemsFor(place).map(({ key, name }) => [`G then ${key.toUpperCase()}`, name] as const);
  return (
    <Dialog
      title="Keyboard shortcuts"
      note="Single letters do nothing while a field has the focus."
      size={460}
      onClose={onClose}
    >
      <dl className="keys-table">
        {[...before, ...pages, ...after].map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <span className="kbd">{keys}</span>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div className="dialog-foot">
        <Button onClick={onClose} data-autofocus>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
