import { describe, expect, it } from 'vitest'
import { installJavaPlugins } from '../../../src/cli/plugins/install-java-plugins.ts'

const OPTIONS = { pluginPath: 'x', settingsFile: '', javaHome: '/no/java', hostDirectory: '' }

describe('weir plugins install', () => {
  it.each(['ftp://u:secret@example.com', 'http://u:secret@repository.example/maven', 'maven'])(
    'rejects %s, which is not an address of HTTPS, as wrong usage',
    async (repository) => {
      const installing = installJavaPlugins({ ...OPTIONS, plugins: ['g:a:1'], repositories: [repository] })
      await expect(installing).rejects.toMatchObject({ code: 'usage', message: expect.not.stringContaining('secret') })
    },
  )

  it('needs Java', async () => {
    const installing = installJavaPlugins({ ...OPTIONS, plugins: ['g:a:1'], repositories: ['https://a.example'] })
    await expect(installing).rejects.toMatchObject({ code: 'java_missing' })
  })
})
