// Codes of a batch, shown once.
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { saveText } from '../../../ui/save-file.ts';

export function CodesDialog(props: { title: string; file: string; csv: string; onClose: () => void }) {
  const { title, file, csv, onClose } = props;
  const [saved, setSaved] = useState(false);
  return (
    <Dialog
      title={title}
      note="They are shown here and nowhere else: the service keeps only what it needs to know one again."
      onClose={saved ? onClose : () => undefined}
    >
      <div className="dialog-form">
        <textarea className="input codes mono" aria-label="Codes as CSV" readOnly rows={8} value={csv} />
        <div className="dialog-foot">
          <Button
            kind="primary"
            icon="download"
            onClick={() => {
              saveText(csv, file);
              setSaved(true);
            }}
          >
            Save as a file
          </Button>
          <Button onClick={onClose}>I have them, close</Button>
        </div>
      </div>
    </Dialog>
  );
}
