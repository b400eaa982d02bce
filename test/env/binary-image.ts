import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from './debian.ts'

/** Writes an image with one static binary, in the format of `docker save`. Returns the path of the file. */
export async function writeBinaryImage(directory: string, reference: string, binary: string): Promise<string> {
  mkdirSync(join(directory, 'root'), { recursive: true })
  copyFileSync(binary, join(directory, 'root/program'))
  await must({ file: 'tar', args: ['-cf', 'layer.tar', '-C', 'root', '.'], directory })
  const config = JSON.stringify({
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Entrypoint: ['/program'], WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(readFileSync(join(directory, 'layer.tar')))}`] },
    history: [{ created_by: 'weir' }],
  })
  const manifest = [{ Config: `${sha256(config)}.json`, RepoTags: [reference], Layers: ['layer.tar'] }]
  writeFileSync(join(directory, `${sha256(config)}.json`), config)
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify(manifest))
  const files = ['manifest.json', `${sha256(config)}.json`, 'layer.tar']
  await must({ file: 'tar', args: ['-cf', 'image.tar', ...files], directory })
  return join(directory, 'image.tar')
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}
