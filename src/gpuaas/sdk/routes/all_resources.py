"""Every resource of the API. Generated from the OpenAPI description by `make sdk`; do not edit."""

from typing import Generic

from gpuaas.sdk.accounts import AdminAccounts
from gpuaas.sdk.allocations import Allocations
from gpuaas.sdk.invitations import Invitations
from gpuaas.sdk.methods import R_co
from gpuaas.sdk.operations import Operations
from gpuaas.sdk.quotas import AdminQuotas
from gpuaas.sdk.routes.access_grants import AccessGrantsRoutes
from gpuaas.sdk.routes.admin import AdminRoutes
from gpuaas.sdk.routes.admin_allocations import AdminAllocationsRoutes
from gpuaas.sdk.routes.admin_audit import AdminAuditRoutes
from gpuaas.sdk.routes.admin_nodes import AdminNodesRoutes
from gpuaas.sdk.routes.admin_operations import AdminOperationsRoutes
from gpuaas.sdk.routes.admin_projects import AdminProjectsRoutes
from gpuaas.sdk.routes.admin_slots import AdminSlotsRoutes
from gpuaas.sdk.routes.admin_task_keys import AdminTaskKeysRoutes
from gpuaas.sdk.routes.admin_tenants import AdminTenantsRoutes
from gpuaas.sdk.routes.admin_unknown_environments import AdminUnknownEnvironmentsRoutes
from gpuaas.sdk.routes.admin_unknown_volumes import AdminUnknownVolumesRoutes
from gpuaas.sdk.routes.admin_users import AdminUsersRoutes
from gpuaas.sdk.routes.admin_workers import AdminWorkersRoutes
from gpuaas.sdk.routes.allocation_groups import AllocationGroupsRoutes
from gpuaas.sdk.routes.auth import AuthRoutes
from gpuaas.sdk.routes.members import MembersRoutes
from gpuaas.sdk.routes.placement import PlacementRoutes
from gpuaas.sdk.routes.projects import ProjectsRoutes
from gpuaas.sdk.routes.quotas import QuotasRoutes
from gpuaas.sdk.routes.sessions import SessionsRoutes
from gpuaas.sdk.routes.skus import SkusRoutes
from gpuaas.sdk.routes.ssh_keys import SshKeysRoutes
from gpuaas.sdk.routes.storage_backends import StorageBackendsRoutes
from gpuaas.sdk.routes.tenant_audit import TenantAuditRoutes
from gpuaas.sdk.routes.tokens import TokensRoutes
from gpuaas.sdk.routes.volumes import VolumesRoutes
from gpuaas.sdk.runtimes import AdminRuntimes, Runtimes


class AdminResources(AdminRoutes[R_co]):
    """For operators."""

    def __init__(self, runner: R_co) -> None:
        super().__init__(runner)
        self.accounts = AdminAccounts(runner)
        self.allocations = AdminAllocationsRoutes(runner)
        self.audit = AdminAuditRoutes(runner)
        self.nodes = AdminNodesRoutes(runner)
        self.operations = AdminOperationsRoutes(runner)
        self.projects = AdminProjectsRoutes(runner)
        self.quotas = AdminQuotas(runner)
        self.runtimes = AdminRuntimes(runner)
        self.slots = AdminSlotsRoutes(runner)
        self.task_keys = AdminTaskKeysRoutes(runner)
        self.tenants = AdminTenantsRoutes(runner)
        self.unknown_environments = AdminUnknownEnvironmentsRoutes(runner)
        self.unknown_volumes = AdminUnknownVolumesRoutes(runner)
        self.users = AdminUsersRoutes(runner)
        self.workers = AdminWorkersRoutes(runner)


class Resources(Generic[R_co]):
    """Everything that the API serves."""

    def __init__(self, runner: R_co) -> None:
        self._runner = runner
        self.access_grants = AccessGrantsRoutes(runner)
        self.allocation_groups = AllocationGroupsRoutes(runner)
        self.allocations = Allocations(runner)
        self.auth = AuthRoutes(runner)
        self.invitations = Invitations(runner)
        self.members = MembersRoutes(runner)
        self.operations = Operations(runner)
        self.placement = PlacementRoutes(runner)
        self.projects = ProjectsRoutes(runner)
        self.quotas = QuotasRoutes(runner)
        self.runtimes = Runtimes(runner)
        self.sessions = SessionsRoutes(runner)
        self.skus = SkusRoutes(runner)
        self.ssh_keys = SshKeysRoutes(runner)
        self.storage_backends = StorageBackendsRoutes(runner)
        self.tenant_audit = TenantAuditRoutes(runner)
        self.tokens = TokensRoutes(runner)
        self.volumes = VolumesRoutes(runner)
        self.admin = AdminResources(runner)
