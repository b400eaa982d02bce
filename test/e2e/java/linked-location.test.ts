import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeLocation } from '../../../src/java/describe-location.ts'
import { discoverJavaPlugins } from '../../../src/java/discovery/discover-plugins.ts'
import { DiscoveryCache } from '../../../src/java/discovery/discovery-cache.ts'
import { describeOn, real } from '../../env/real.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const javaHost = await real('javaHost')

describeOn([javaHost], 'a location with links to itself, pipes and devices', () => {
  it('is described by the Java host, which reads the same jars as discovery', async () => {
    const root = temporaryDirectory()
    const location = join(root, 'connect-file')
    mkdirSync(join(location, 'lib'), { recursive: true })
    copyFileSync(javaHost.address.jars.file, join(location, 'lib/connect-file.jar'))
    symlinkSync('..', join(location, 'lib/circle'))
    symlinkSync('gone', join(location, 'dangling.jar'))
    symlinkSync('/dev/zero', join(location, 'zero.jar'))
    execFileSync('mkfifo', [join(location, 'a-pipe.jar')])

    const cache = new DiscoveryCache(join(temporaryDirectory(), 'cache'))
    const { locations, faults } = await discoverJavaPlugins([root], 'hybrid_warn', cache)
    expect(faults).toEqual([{ file: join(location, 'dangling.jar'), reason: 'the link leads nowhere' }])
    const [found] = locations
    const log = { linesPerSecond: 100, bytesPerSecond: 65_536 }
    const runtime = { home: '', hostDirectory: javaHost.address.directory, heapMax: '64m', options: [], log }
    const options = { runtime, classes: found!.classes, timeoutMs: 60_000, onLog: () => undefined }
    const described = await describeLocation(found!.location, options)
    expect(described.faults).toEqual([])
    expect(described.plugins.map((plugin) => plugin.class)).toEqual([
      'org.apache.kafka.connect.file.FileStreamSourceConnector',
      'org.apache.kafka.connect.file.FileStreamSinkConnector',
    ])
  })
})
