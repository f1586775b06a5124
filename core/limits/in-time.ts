// How long Redis may take: a process that was busy itself must not take that for a Redis that is lost.

/** A Redis slower than this is as good as lost: the caller waits for it. */
const PATIENCE_MS = 250;

/**
 * What Redis answers to `asked`. An answer that lies in the socket because this process was busy has come in time: it is
 * read before the turn of the event loop that follows the timer.
 * @throws Error when there is none in time, or what Redis refused with.
 */
export function inTime<T>(asked: Promise<T>): Promise<T> {
  return new Promise((done, fail) => {
    const late = () => fail(new Error('Redis did not answer in time'));
    const timer = setTimeout(() => setImmediate(late), PATIENCE_MS);
    asked.then(
      (answer) => {
        clearTimeout(timer);
        done(answer);
      },
      (error: unknown) => {
        clearTimeout(timer);
        fail(error);
      },
    );
  });
}
