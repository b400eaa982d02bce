import { globSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../env/debian.ts'
import type { Image, ImageWay } from '../env/image.ts'
import { partDirectory } from '../env/workspace.ts'

/** Unpacks the files of an image that are below one of `folders`, without a slash at their start. Returns their root. */
export async function unpackImage(way: ImageWay, image: Image, ...folders: readonly string[]): Promise<string> {
  const directory = partDirectory('image')
  await way.save(image, join(directory, 'image.tar'))
  await must({ file: 'tar', args: ['-xf', 'image.tar'], directory })
  const [manifest] = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')) as [{ Layers: string[] }]
  mkdirSync(join(directory, 'root'))
  for (const layer of manifest.Layers) {
    const names = (await must({ file: 'tar', args: ['-tf', layer], directory })).split('\n')
    const found = folders.filter((folder) => names.some((name) => name.startsWith(`${folder}/`)))
    if (found.length > 0) await must({ file: 'tar', args: ['-xf', layer, '-C', 'root', ...found], directory })
  }
  return join(directory, 'root')
}

/** The paths of all files below a directory, relative to it. */
export function filesIn(directory: string): readonly string[] {
  return globSync('**/*', { cwd: directory, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
}

/** The architecture of an ELF file. */
export function machineOf(file: string): 'amd64' | 'arm64' | number {
  const head = Buffer.alloc(20)
  readSync(openSync(file, 'r'), head)
  if (head.toString('latin1', 1, 4) !== 'ELF') throw new Error(`${file} is not an ELF file`)
  const machine = head.readUInt16LE(18)
  return ({ 62: 'amd64', 183: 'arm64' } as const)[machine] ?? machine
}
