import { inject } from 'vitest'

// Runs before each file with real parts. Unit tests start what they need from `src`.
Object.assign(process.env, inject('programEnvironment'))
