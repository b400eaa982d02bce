import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { must } from '../../test/env/debian.ts'

/**
 * Writes an archive of an entry in a directory by GNU tar. Equal files give equal bytes: the entries are sorted, belong to
 * root, can be written by the owner only, and have the given time.
 */
export async function writeTar(file: string, directory: string, entry: string, sourceDateEpoch: number): Promise<void> {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX,go-w']
  const order = ['--format=gnu', '--sort=name', `--mtime=@${sourceDateEpoch}`]
  const args = ['--create', '--file', file, ...order, ...owner, '--directory', directory, entry]
  await must({ file: 'tar', args, directory, env: { LC_ALL: 'C' } })
}

/** As `writeTar`, compressed by gzip, without a time and a name in its header. */
export async function writeCompressedTar(
  file: string,
  directory: string,
  entry: string,
  sourceDateEpoch: number,
): Promise<void> {
  const tar = `${file}.tar`
  await writeTar(tar, directory, entry, sourceDateEpoch)
  writeFileSync(file, gzipSync(readFileSync(tar), { level: 9 }))
  rmSync(tar)
}
