import { PassThrough } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import type { HostLogLine } from '../../src/java/host-log.ts'
import { HOST_LINE_CHARS_MAX, HostOutput, PIPE_CHARS_PER_SECOND } from '../../src/java/host-output.ts'
import { FakeClock } from '../support/fake-clock.ts'

function hostOutput(limits = { linesPerSecond: 1, bytesPerSecond: 1_000 }) {
  const clock = new FakeClock()
  const lines: HostLogLine[] = []
  const output = new HostOutput({ limits, clock, onLine: (line) => lines.push(line) })
  const stream = new PassThrough()
  output.follow(stream, 'stderr')
  onTestFinished(() => output.end())
  return { clock, lines, output, stream, messages: () => lines.map(({ message }) => message) }
}

const logged = (context: string, message: string) => JSON.stringify({ level: 'info', logger: 'x', context, message })

it('passes the lines of all chunks, also a last one without an end', async () => {
  const { stream, messages, output } = hostOutput()
  stream.write('fir')
  stream.write('st\nsecond\nthi')
  stream.end('rd')
  await expect.poll(messages).toEqual(['first', 'second', 'third'])
  expect(output.lastLines).toEqual(['first', 'second', 'third'])
})

it('cuts a line that is too long, and discards the rest of it', async () => {
  const { stream, lines, clock } = hostOutput({ linesPerSecond: 100, bytesPerSecond: 100_000_000 })
  for (let chunk = 0; chunk < 100; chunk++) stream.write('x'.repeat(HOST_LINE_CHARS_MAX / 10))
  stream.write('\nnext\n')
  for (let second = 0; second < 20; second++) await clock.advance(1_000)
  await expect.poll(() => lines.at(-1)?.message).toBe('next')
  expect(lines).toHaveLength(2)
  expect(lines[0]!.message.length).toBeLessThanOrEqual(HOST_LINE_CHARS_MAX)
})

it('limits the lines of each task, and reports how many were dropped', async () => {
  const { stream, lines, clock } = hostOutput()
  for (let line = 0; line < 50; line++) stream.write(`${logged('noisy-0', 'again')}\n`)
  stream.write(`${logged('quiet-0', 'once')}\n`)
  await expect.poll(() => lines.filter(({ context }) => context === 'quiet-0')).toHaveLength(1)
  expect(lines.filter(({ context }) => context === 'noisy-0')).toHaveLength(10)
  await clock.advance(5_000)
  expect(lines.at(-1)).toMatchObject({
    level: 'warn',
    context: 'noisy-0',
    message: expect.stringContaining('40 log lines'),
  })
})

it('stops reading a pipe that receives more than the limit, until a second has passed', async () => {
  const { stream, clock } = hostOutput()
  stream.write(`${'x'.repeat(PIPE_CHARS_PER_SECOND)}\n`)
  await expect.poll(() => stream.isPaused()).toBe(true)
  await clock.advance(1_000)
  expect(stream.isPaused()).toBe(false)
})
