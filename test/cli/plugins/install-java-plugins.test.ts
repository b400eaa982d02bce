import { describe, expect, it, vi } from 'vitest'
import { installJavaPlugins } from '../../../src/cli/plugins/install-java-plugins.ts'
import { startHttpServer } from '../../support/http-server.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const plugins = ['org.example:plugin:1.0']

describe('weir plugins install', () => {
  it('is undecided if the repository cannot be read', async () => {
    const { url } = await startHttpServer(() => ({ status: 403 }))
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    try {
      expect(await installJavaPlugins({ plugins, repository: url, pluginPath: temporaryDirectory() })).toBe(3)
      expect(written.mock.calls.flat().join('')).toContain(`${url} answers with HTTP status 403`)
    } finally {
      written.mockRestore()
    }
  })

  it('fails if the repository does not have the plugin', async () => {
    const { url } = await startHttpServer(() => ({ status: 404 }))
    const installing = installJavaPlugins({ plugins, repository: url, pluginPath: temporaryDirectory() })
    await expect(installing).rejects.toMatchObject({ code: 'artifact_not_found' })
  })

  it('rejects an address that is not one of HTTPS as wrong usage', async () => {
    const installing = installJavaPlugins({ plugins, repository: 'ftp://u:secret@example.com', pluginPath: 'x' })
    await expect(installing).rejects.toMatchObject({ code: 'usage', message: expect.not.stringContaining('secret') })
  })
})
