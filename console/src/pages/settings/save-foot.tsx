// The foot of a form that stays on its page: what saves it, and what is said once it is saved.
import { Button } from '../../ui/button.tsx';

export function SaveFoot({ verb, busy, said }: { verb: string; busy: boolean; said: string }) {
  return (
    <div className="settings-foot">
      <Button type="submit" kind="primary" busy={busy}>
        {verb}
      </Button>
      <span role="status" className="soft">
        {said}
      </span>
    </div>
  );
}
