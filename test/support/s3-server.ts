import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { onTestFinished } from 'vitest'
import type { ProgramAddress } from '../env/go-program.ts'
import { freePort } from '../env/ports.ts'
import { startServer, untilReady } from '../env/process.ts'
import { accepts } from '../env/tcp.ts'
import { partDirectory } from '../env/workspace.ts'
import { filesIn } from './image-files.ts'

const ACCESS_KEY = 'weir'
const SECRET_KEY = 'weir-secret'
const BUCKET = 'lake'
const REGION = 'us-east-1'

export type S3Server = {
  /** Keys of a connector that writes to the bucket. */
  readonly keys: Readonly<Record<string, string>>
  /** The keys of all objects. */
  objectKeys(): readonly string[]
  object(key: string): Buffer
  /** The key and the id of each upload that was neither completed nor aborted. */
  incompleteUploads(): Promise<readonly string[]>
}

/** Starts a server with one bucket, until the end of the test. */
export async function startS3Server({ file }: ProgramAddress): Promise<S3Server> {
  const directory = partDirectory('s3')
  const [root, sidecar] = [join(directory, 'root'), join(directory, 'sidecar')]
  const bucket = join(root, BUCKET)
  mkdirSync(bucket, { recursive: true })
  mkdirSync(sidecar)
  const address = `127.0.0.1:${await freePort()}`
  const output = join(directory, 'output')
  const args = ['--port', address, '--access', ACCESS_KEY, '--secret', SECRET_KEY, '--quiet', '--keep-alive']
  const server = startServer({ file, args: [...args, 'posix', '--sidecar', sidecar, root], directory }, output)
  onTestFinished(() => server.kill())
  await untilReady(server, { what: 'versitygw', logFiles: [output], timeoutMs: 60_000 }, () => accepts(address))
  const endpoint = `http://${address}`
  const client = new S3Client({
    endpoint,
    region: REGION,
    forcePathStyle: true,
    credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
  })
  onTestFinished(() => client.destroy())
  return {
    keys: {
      's3.bucket.name': BUCKET,
      's3.region': REGION,
      'store.url': endpoint,
      'aws.access.key.id': ACCESS_KEY,
      'aws.secret.access.key': SECRET_KEY,
    },
    objectKeys: () => filesIn(bucket).filter((key) => !key.startsWith('.')),
    object: (key) => readFileSync(join(bucket, key)),
    async incompleteUploads() {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))
      return Uploads.map(({ Key, UploadId }) => `${Key} ${UploadId}`)
    },
  }
}
