// Loaded into a process before its program: between two signals it counts the bytes that its main thread allocates in the young
// generation, and writes the sum to the file named by BENCH_ALLOCATION_FILE. What outlives nothing is counted too, which a
// difference of heap sizes would not show.
import { renameSync, writeFileSync } from 'node:fs';
import { GCProfiler, getHeapSpaceStatistics } from 'node:v8';

const YOUNG = ['new_space', 'new_large_object_space'];

interface Space {
  readonly spaceName: string;
  readonly spaceUsedSize: number;
}

const used = (spaces: readonly Space[]) =>
  spaces.reduce(
    (sum, { spaceName, spaceUsedSize }) => sum + (YOUNG.includes(spaceName) ? spaceUsedSize : 0),
    0,
  );
const usedNow = () =>
  used(
    getHeapSpaceStatistics().map(({ space_name, space_used_size }) => ({
      spaceName: space_name,
      spaceUsedSize: space_used_size,
    })),
  );

let profiler: GCProfiler | null = null;
let before = 0;

process.on('SIGUSR2', () => {
  const file = process.env['BENCH_ALLOCATION_FILE'] as string;
  if (profiler === null) {
    profiler = new GCProfiler();
    profiler.start();
    before = usedNow();
    writeFileSync(`${file}.begun`, '');
    return;
  }
  const { statistics } = profiler.stop();
  profiler = null;
  let sum = 0;
  for (const { beforeGC, afterGC } of statistics) {
    sum += used(beforeGC.heapSpaceStatistics as unknown as Space[]) - before;
    before = used(afterGC.heapSpaceStatistics as unknown as Space[]);
  }
  // Whole or not there: who waits for the file reads it at once.
  writeFileSync(`${file}.part`, String(sum + usedNow() - before));
  renameSync(`${file}.part`, file);
});
