import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { watchFiles } from '../../src/common/file-watcher.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

function follow(file: string) {
  const logger = silentLogger()
  const error = vi.spyOn(logger, 'error')
  const used: string[] = []
  const read = () => {
    const text = readFileSync(file, 'utf8')
    if (text === '' || text === 'broken') throw new Error('on purpose')
    return text
  }
  const followed = watchFiles({ files: [file], read, use: (text) => used.push(text), logger })
  onTestFinished(() => followed.close())
  const usedLast = (text: string) => vi.waitFor(() => expect(used.at(-1)).toBe(text), { timeout: 25_000 })
  return { error, used, usedLast }
}

it('reloads a file that was written, and keeps the previous content when the new one is invalid', async () => {
  const file = join(temporaryDirectory(), 'certificate.pem')
  writeFileSync(file, 'one')
  const { error, used, usedLast } = follow(file)
  writeFileSync(file, 'two')
  await usedLast('two')
  writeFileSync(file, 'broken')
  await vi.waitFor(
    () => expect(error).toHaveBeenCalledWith(expect.objectContaining({ files: [file] }), expect.anything()),
    { timeout: 25_000 },
  )
  expect(used).not.toContain('broken')
  writeFileSync(file, 'three')
  await usedLast('three')
})

it('reloads a file that was replaced by another one', async () => {
  const directory = temporaryDirectory()
  const file = join(directory, 'certificate.pem')
  writeFileSync(file, 'one')
  const { usedLast } = follow(file)
  writeFileSync(join(directory, 'new'), 'two')
  renameSync(join(directory, 'new'), file)
  await usedLast('two')
})

it('reloads a mounted Secret, whose files are links through a replaced link', async () => {
  const directory = temporaryDirectory()
  for (const [version, text] of [
    ['..1', 'one'],
    ['..2', 'two'],
  ] as const) {
    mkdirSync(join(directory, version))
    writeFileSync(join(directory, version, 'tls.pem'), text)
  }
  symlinkSync('..1', join(directory, '..data'))
  symlinkSync(join('..data', 'tls.pem'), join(directory, 'tls.pem'))
  const { usedLast } = follow(join(directory, 'tls.pem'))
  symlinkSync('..2', join(directory, '..data_tmp'))
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'))
  await usedLast('two')
})
